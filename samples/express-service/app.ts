import { join } from 'node:path';
import express, { type ErrorRequestHandler, type Express, type Response } from 'express';
import type { DependencyContainer } from 'tsyringe';
import { ArtifactResolver } from 'mcp-toolset';
import { Agent } from './agent';
import { Answers } from './answers';
import { ArtifactStore } from './artifact-store';
import type { Step } from './steps';
import { userOf, Users } from './users';

/** What browsers show; everything else is downloaded, for a server could send a page. */
const SHOWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const LONGEST_QUESTION = 2_000;

/** The routes; `container` has the `Settings` and the `Agent`, and in tests other servers behind the toolsets. */
export function createApp(container: DependencyContainer): Express {
  // One of each for this container and the runs below it.
  container.registerSingleton(Answers).registerSingleton(ArtifactStore);
  container.register(ArtifactResolver, { useToken: ArtifactStore });
  const answers = container.resolve(Answers);
  const artifacts = container.resolve(ArtifactStore);
  const agent = container.resolve(Agent);
  const users = new Users();
  const app = express().disable('x-powered-by');

  app.use((_, res, next) => {
    res.set({
      'Content-Security-Policy': "default-src 'self'; base-uri 'none'; frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
    });
    if (!answers.isStopping) return next();
    res.status(503).set('Connection', 'close').json({ error: 'The service is stopping.' });
  });
  app.use(express.static(join(__dirname, 'public')));
  app.use(express.json({ limit: '16kb' }));

  app.get('/about', (_, res) => void res.json({ model: agent.model, scripted: agent.isScripted, users: users.names }));

  app.post('/session', (req, res) => {
    const token = users.signIn((req.body as { user?: unknown } | undefined)?.user);
    if (token === undefined) return void res.status(400).json({ error: 'There is no such user.' });
    res.cookie('session', token, { httpOnly: true, sameSite: 'strict' }).status(204).end();
  });

  app.post('/ask', users.only, async (req, res) => {
    const { question } = (req.body ?? {}) as { question?: unknown };
    if (typeof question !== 'string' || question.trim() === '' || question.length > LONGEST_QUESTION) {
      return void res.status(400).json({ error: `Ask something, in at most ${LONGEST_QUESTION} characters.` });
    }
    const send = eventStream(res);
    await answers.answer(question, { user: userOf(res), signal: abortedWith(res), send });
    res.end();
  });

  app.get('/artifacts/:id', users.only, (req, res) => {
    const found = artifacts.find(userOf(res), req.params.id);
    if (!found) return void res.status(404).json({ error: 'There is no such artifact.' });
    const { data, mediaType, name } = found;
    if (SHOWN.has(mediaType)) res.type(mediaType);
    else res.attachment(name).type('application/octet-stream');
    res.set('Cache-Control', 'private, no-store').send(Buffer.from(data));
  });
  app.use(refuse);
  return app;
}

/** Says what is wrong with a request as every route does, and not by Express's page with a stack in it. */
const refuse: ErrorRequestHandler = (error: { status?: number }, _req, res, next) => {
  const { status = 500 } = error;
  if (status >= 500) console.error(error);
  if (res.headersSent) return next(error);
  res.status(status).json({ error: status < 500 ? 'The request cannot be read.' : 'Something went wrong.' });
};

/** Starts the events of a response; what is sent when the client is gone is lost. */
function eventStream(res: Response): (step: Step) => void {
  res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  res.flushHeaders();
  return ({ type, ...data }) => {
    if (!res.destroyed) res.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
}

/** A signal that aborts when the client goes away before it has its answer. */
function abortedWith(res: Response): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) gone.abort(new Error('The client disconnected.'));
  });
  return gone.signal;
}
