/**
 * The same JSON value with every lone surrogate replaced by U+FFFD; the value itself where there is none. Never recurses,
 * however deep the value is.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return isWellFormed(value) ? value : repaired(value);
}

function isWellFormed(root: unknown): boolean {
  const stack = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value === 'string' && !value.isWellFormed()) return false;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, entry] of Object.entries(value)) {
      if (!key.isWellFormed()) return false;
      stack.push(entry);
    }
  }
  return true;
}

interface Copy {
  readonly from: object;
  readonly to: object;
}

function repaired(root: unknown): unknown {
  const holder: { value?: unknown } = {};
  const work: Copy[] = [{ from: { value: root }, to: holder }];
  for (let next = work.pop(); next; next = work.pop()) {
    for (const [key, entry] of Object.entries(next.from) as [string, unknown][]) {
      const container = typeof entry === 'object' && entry !== null;
      const copy: unknown = container ? (Array.isArray(entry) ? [] : {}) : wellFormed(entry);
      if (container) work.push({ from: entry, to: copy as object });
      Object.defineProperty(next.to, key.toWellFormed(), {
        value: copy,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
  }
  return holder.value;
}
