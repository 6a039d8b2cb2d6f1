import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of the benchmark that answers questions. */
export class Child {
  /** What it said when it was ready. */
  ready;
  #process;
  #lastId = 0;

  /** Starts a module of this folder and waits until it says that it is ready. */
  static async start(module, ...args) {
    const child = new Child();
    const path = fileURLToPath(new URL(module, import.meta.url));
    child.#process = fork(path, args, { execArgv: ['--expose-gc', ...process.execArgv] });
    child.ready = await child.#answer(undefined);
    return child;
  }

  /** Asks it something and waits for the answer. */
  async ask(question) {
    this.#lastId += 1;
    this.#process.send({ id: this.#lastId, ...question });
    return this.#answer(this.#lastId);
  }

  async stop() {
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }

  #answer(id) {
    return new Promise((resolve, reject) => {
      const settle = (answer) => {
        this.#process.off('message', take).off('exit', leave);
        if (answer.error === undefined) resolve(answer.value);
        else reject(new Error(answer.error));
      };
      const take = (answer) => answer.id === id && settle(answer);
      const leave = (code) => settle({ error: `a process of the benchmark ended with code ${code}` });
      this.#process.on('message', take).on('exit', leave);
    });
  }
}
