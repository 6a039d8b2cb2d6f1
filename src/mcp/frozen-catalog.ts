import type { Catalog } from './catalog';

/** A copy that no run can change for the others; a server in the same process keeps its own objects as they are. */
export function frozen(listed: Catalog): Catalog {
  const catalog = structuredClone(listed);
  const left: object[] = [catalog];
  for (let value = left.pop(); value; value = left.pop()) {
    Object.freeze(value);
    for (const inner of Object.values(value) as unknown[]) {
      if (typeof inner === 'object' && inner !== null && !Object.isFrozen(inner)) left.push(inner);
    }
  }
  return catalog;
}
