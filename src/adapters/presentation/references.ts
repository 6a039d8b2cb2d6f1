import type { JsonSchema } from '../../tool/json-schema';
import { loosened } from './loosened';
import { isSchema, mapSchemas } from './schema-walk';

/** What a reference within a schema leads to: a JSON pointer in a fragment. Undefined where it leads nowhere. */
export function referenced(root: JsonSchema, reference: unknown): JsonSchema | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const pointer = decoded(reference.slice(1));
  if (pointer === '') return root;
  if (pointer?.startsWith('/') !== true) return undefined;
  let place: unknown = root;
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Record<string, unknown>)[key];
  }
  return isSchema(place) ? place : undefined;
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

/**
 * A copy without the references that lead nowhere in it: a provider that meets one refuses the whole request. `isLooser`
 * says that the root allows more than it did when the references to it were written.
 */
export function withoutDeadReferences(root: JsonSchema, { isLooser }: { readonly isLooser: boolean }): JsonSchema {
  let names: ReadonlySet<unknown> | undefined;
  const isName = (reference: unknown): boolean => (names ??= namesIn(root)).has(reference);
  return loosened(root, (entries, lose) => {
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const reference = entries.get(keyword);
      if (reference === undefined) continue;
      const target = referenced(root, reference);
      const isDead = !target && !isName(reference);
      if (isDead) entries.delete(keyword);
      if (isDead || (isLooser && target === root)) lose(keyword);
    }
    return entries;
  });
}

/** What the schemas of a schema are called, as references to them are written. */
function namesIn(root: JsonSchema): ReadonlySet<unknown> {
  const names = new Set<unknown>();
  mapSchemas(root, (entries) => {
    names.add(entries.get('$id'));
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = entries.get(keyword);
      if (typeof anchor === 'string') names.add(`#${anchor}`);
    }
    return Object.fromEntries(entries);
  });
  return names;
}
