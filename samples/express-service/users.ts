import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

/**
 * A small token scheme, so that the sample has users: `name.signature`, in a cookie, without a password and without an
 * end. Put your own sign-in in its place.
 */
export class Users {
  readonly names: readonly string[] = ['ada', 'grace'];
  private readonly secret = randomBytes(32);

  /** A token for a user, or undefined where there is no such user. */
  signIn(name: unknown): string | undefined {
    return typeof name === 'string' && this.names.includes(name) ? `${name}.${this.signature(name)}` : undefined;
  }

  /** Lets requests of users pass, whose names are in `res.locals.user` from then on. */
  readonly only = (req: Request, res: Response, next: NextFunction): void => {
    const user = this.userOf(/(?:^|;\s*)session=([^;]+)/.exec(req.headers.cookie ?? '')?.[1]);
    if (user === undefined) {
      res.status(401).json({ error: 'Sign in first.' });
      return;
    }
    res.locals.user = user;
    next();
  };

  private userOf(token = ''): string | undefined {
    const [name = '', signature = ''] = token.split('.');
    const given = Buffer.from(signature);
    const expected = Buffer.from(this.signature(name));
    return given.length === expected.length && timingSafeEqual(given, expected) ? name : undefined;
  }

  private signature(name: string): string {
    return createHmac('sha256', this.secret).update(name).digest('base64url');
  }
}

/** The user of a request that `Users#only` let pass. */
export function userOf({ locals }: Response): string {
  return (locals as { user: string }).user;
}
