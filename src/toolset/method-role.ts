import { ConfigurationError } from '../errors';
import { ownMetadata, writeMetadata, type AnyClass, type DecoratedMethod, type MethodRole } from './metadata';

/** A decorator for methods of the type `F`. */
export type MethodDecoratorOf<F> = <M extends F>(
  target: object,
  propertyKey: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

/** The decorator of a role that needs nothing but the method. */
export function methodRole<F>(role: MethodRole, decorator: string, none: readonly unknown[]): MethodDecoratorOf<F> {
  if (none.length > 0) throw new ConfigurationError(`Write ${decorator}, with parentheses and nothing in them.`);
  return (target, key, descriptor: PropertyDescriptor | undefined) => {
    decorate({ target, key, descriptor, role, decorator });
    addMethod(target, role, { method: key });
  };
}

/** Where a decorator stands. */
export interface Decoration {
  readonly target: object;
  readonly key: string | symbol;
  readonly descriptor: PropertyDescriptor | undefined;
  readonly role: MethodRole;
  readonly decorator: string;
}

/** Checks where a decorator stands, and returns how errors call the place. */
export function decorate({ target, key, descriptor, role, decorator }: Decoration): string {
  if (typeof key === 'object') {
    throw new ConfigurationError(
      `${decorator}: the compiler's own decorators are in force; set "experimentalDecorators": true in tsconfig.json.`,
    );
  }
  const isStatic = typeof target === 'function';
  const owner = (isStatic ? target : target.constructor) as AnyClass;
  const where = `${owner.name}#${String(key)}, ${decorator}`;
  if (isStatic) throw new ConfigurationError(`${where}: the member is static; mark a method of the instance.`);
  if (typeof descriptor?.value !== 'function') {
    throw new ConfigurationError(`${where}: the member is not a method; mark a method.`);
  }
  const other = ownMetadata(owner).methods[role];
  if (other) {
    throw new ConfigurationError(`${where}: ${String(other.method)} is marked ${decorator} already; keep one of them.`);
  }
  return where;
}

/** Writes a method down. */
export function addMethod(target: object, role: MethodRole, method: DecoratedMethod): void {
  writeMetadata(target.constructor as AnyClass, { methods: { [role]: method } });
}
