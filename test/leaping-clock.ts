/**
 * A time limit in milliseconds that no test reaches by itself, since jest ends it before (`testTimeout`): only a clock
 * that leaps does. It is shorter than the minute that the library allows a request where nothing is said.
 */
export const LIMIT = 45_000;

/** A clock that can be put forward. */
export interface LeapingClock {
  /** Lets time leap: every `setTimeout` of this process that is due by then fires, and `Date` tells the later time. */
  leap(milliseconds: number): void;
}

/**
 * The clock of this file's or block's tests, of the library and of the scripted servers in this process: it goes on as
 * ever, and leaps when a test says so. A test in which one step comes too late gives the run or the request a `LIMIT`,
 * waits until that step is under way, and leaps; so the steps that have to succeed may take as long as they like.
 * `performance.now()`, `setInterval`, `node:timers/promises` and child processes keep their own time.
 */
export function leapingClock(): LeapingClock {
  beforeAll(() => {
    // Everything that can be faked, but for `setTimeout`, `clearTimeout` and `Date`.
    jest.useFakeTimers({
      advanceTimers: true,
      doNotFake: [
        ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
        ...(['setInterval', 'clearInterval', 'requestAnimationFrame', 'cancelAnimationFrame'] as const),
        ...(['requestIdleCallback', 'cancelIdleCallback'] as const),
      ],
    });
  });
  afterAll(() => {
    jest.useRealTimers();
  });
  return { leap: (milliseconds) => void jest.advanceTimersByTime(milliseconds) };
}
