/**
 * Waits for `work`, but not for longer than `milliseconds`.
 * @throws what `work` throws, and an Error when it takes longer
 */
export async function boundedWait<T>(milliseconds: number, work: PromiseLike<T> | T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([work, bound]).finally(() => clearTimeout(timer));
}
