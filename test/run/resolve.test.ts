import { injectable, type InjectionToken } from 'tsyringe';
import { ConfigurationError, ToolRegistry } from 'mcp-toolset';
import { closeRunsAfterEach, startRun } from '../contract/started-run';

closeRunsAfterEach();

class Unmarked {
  constructor(readonly tools: ToolRegistry) {}
}

/** What resolving a class from a run throws. */
function thrownBy<T>(type: InjectionToken<T>): unknown {
  const run = startRun();
  try {
    return run.resolve(type);
  } catch (error) {
    return error;
  }
}

describe('a class that a run cannot make', () => {
  it('for it is not marked is a ConfigurationError that says what to do', () => {
    const error = thrownBy(Unmarked);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^Run#resolve: .*TypeInfo not known for "Unmarked"; mark it @injectable\(\), and .*emitDecoratorMetadata.*@inject\(…\)\.$/,
      ),
      cause: expect.objectContaining({ message: 'TypeInfo not known for "Unmarked"' }),
    });
  });

  it('for its constructor throws is the error that it threw', () => {
    const failure = new RangeError('no licence');
    @injectable()
    class Throwing {
      constructor(readonly tools: ToolRegistry) {
        throw failure;
      }
    }
    expect(thrownBy(Throwing)).toBe(failure);
  });

  it('for something else that it needs is not marked has the error of the container, which names both', () => {
    @injectable()
    class Needing {
      constructor(readonly unmarked: Unmarked) {}
    }
    const error = thrownBy(Needing);
    expect(error).not.toBeInstanceOf(ConfigurationError);
    expect(String(error)).toMatch(/"Needing" constructor[^]*TypeInfo not known for "Unmarked"$/);
  });
});
