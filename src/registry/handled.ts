const ignore = (): void => undefined;

/**
 * A promise that may be left alone: where a caller forgets to await it, as in `return registry.execute(…)` inside of
 * `await using run`, its rejection fails that caller, and not the whole process. Whoever awaits it sees it reject.
 */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.then(undefined, ignore);
  return promise;
}
