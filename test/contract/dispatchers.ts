import { getGlobalDispatcher, setGlobalDispatcher, type Dispatcher } from 'undici';

/** Puts a dispatcher in the place of the global one as long as `work` takes. */
export async function through<T>(dispatcher: Dispatcher, work: () => Promise<T>): Promise<T> {
  const usual = getGlobalDispatcher();
  setGlobalDispatcher(dispatcher);
  try {
    return await work();
  } finally {
    setGlobalDispatcher(usual);
    await dispatcher.destroy();
  }
}
