/**
 * The same JSON value with every lone surrogate replaced by U+FFFD; the value itself where there is none. Never recurses,
 * however deep the value is.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return isWellFormed(value) ? value : repaired(value);
}

function isWellFormed(root: unknown): boolean {
  if (!isContainer(root)) return isFine(root);
  const stack: object[] = [root];
  const seen = new Set<object>(); // a server in the same process may answer with what JSON could not hold
  for (let value = stack.pop(); value; value = stack.pop()) {
    const entries: unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (!Array.isArray(value) && !Object.keys(value).every(isFine)) return false;
    for (const entry of entries) {
      if (!isFine(entry)) return false;
      if (!isContainer(entry) || isEmpty(entry) || seen.has(entry)) continue;
      seen.add(entry);
      stack.push(entry);
    }
  }
  return true;
}

function isFine(value: unknown): boolean {
  return typeof value !== 'string' || value.isWellFormed();
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isEmpty(container: object): boolean {
  if (Array.isArray(container)) return container.length === 0;
  for (const _ in container) return false;
  return true;
}

interface Copy {
  readonly from: object;
  readonly to: object;
}

function repaired(root: unknown): unknown {
  const work: Copy[] = [];
  const copies = new Map<object, object>();
  const copyOf = (value: unknown): unknown => {
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value !== 'object' || value === null) return value;
    const known = copies.get(value);
    if (known) return known;
    const copy = { from: value, to: Array.isArray(value) ? [] : {} };
    copies.set(copy.from, copy.to);
    work.push(copy);
    return copy.to;
  };
  const result = copyOf(root);
  for (let next = work.pop(); next; next = work.pop()) {
    for (const [key, entry] of Object.entries(next.from)) {
      const property = { value: copyOf(entry), enumerable: true, writable: true, configurable: true };
      Object.defineProperty(next.to, key.toWellFormed(), property);
    }
  }
  return result;
}
