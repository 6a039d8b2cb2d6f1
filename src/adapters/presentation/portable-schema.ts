import type { JsonSchema } from '../../tool/json-schema';
import { loosened, type Entries } from './loosened';
import { isSchema, KEYWORDS, type KeywordKind } from './schema-walk';

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** The dialect is 2020-12 from here on; `id` is draft-04's, and validators of today refuse it. */
const DROPPED = new Set(['$schema', '$vocabulary', 'id']);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Whether a value has the form that its keyword asks for (JSON Schema 2020-12, the meta-schemas). */
const FORMS: Readonly<Record<KeywordKind, (value: unknown) => boolean>> = {
  schema: (value) => isSchema(value) || typeof value === 'boolean',
  schemas: (value) => Array.isArray(value) && value.length > 0,
  schemaMap: isSchema,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  count: isCount,
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  names: (value) => Array.isArray(value),
  type: (value) => typeof value === 'string' || (Array.isArray(value) && value.length > 0),
  list: (value) => Array.isArray(value) && value.length > 0,
};

/**
 * A copy of a schema that every provider's validator reads: in the form of 2020-12, whatever draft it was written in and
 * whatever its author got wrong. A keyword that cannot be understood is left out, and the copy never allows less; the
 * server, or the local tool's own check, still holds the input against the original.
 */
export function portableSchema(schema: JsonSchema): JsonSchema {
  return loosened(schema, (entries, lose) => {
    const edited = completed(described(modern(usable(entries, lose), lose), lose));
    return hasPortablePatterns(edited) ? edited : withoutPatterns(edited, lose);
  });
}

type Lose = (keyword: string) => void;

/** Without keywords that have another form than they may have. */
function usable(entries: Entries, lose: Lose): Entries {
  const kept: Entries = new Map();
  for (const [key, given] of entries) {
    const kind = KEYWORDS.get(key);
    const value = kind === undefined ? given : tidied(key, kind, given);
    // Draft-04's exclusive bounds and draft-07's tuples have their turn next.
    const isOlder = (kind === 'number' && typeof value === 'boolean') || (key === 'items' && Array.isArray(value));
    const isUsable =
      kind === undefined || isOlder || (FORMS[kind](value) && !(key === 'multipleOf' && !(Number(value) > 0)));
    if (DROPPED.has(key)) continue;
    if (isUsable) kept.set(key, value);
    else lose(key);
  }
  return kept;
}

function tidied(key: string, kind: KeywordKind, value: unknown): unknown {
  if (kind === 'type' && Array.isArray(value)) return unique(value.filter((name) => TYPES.has(name as string)));
  if (kind === 'type') return TYPES.has(value as string) ? value : undefined;
  if (kind === 'names' && Array.isArray(value)) return unique(value.filter((name) => typeof name === 'string'));
  if (key === 'enum' && Array.isArray(value))
    return [...new Map(value.map((entry) => [JSON.stringify(entry), entry])).values()];
  return value;
}

function unique(values: readonly unknown[]): unknown[] {
  return [...new Set(values)];
}

/** What earlier drafts said, in the words of 2020-12. */
function modern(entries: Entries, lose: Lose): Entries {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof entries.get(exclusive) !== 'boolean') continue;
    const isExclusive = entries.get(exclusive) === true && entries.has(bound);
    entries.delete(exclusive);
    if (isExclusive) entries.set(exclusive, entries.get(bound)).delete(bound);
  }
  const items = entries.get('items');
  if (Array.isArray(items)) {
    entries.delete('items');
    if (items.length > 0 && !entries.has('prefixItems')) entries.set('prefixItems', items);
    if (entries.has('additionalItems')) entries.set('items', entries.get('additionalItems'));
  }
  entries.delete('additionalItems');
  for (const [key, isUsable] of [
    ['dependencies', areDependencies],
    ['dependentRequired', areNames],
  ] as const) {
    if (entries.has(key) && !isUsable(entries.get(key)) && entries.delete(key)) lose(key);
  }
  for (const key of ['$id', '$anchor', '$dynamicAnchor'] as const) {
    if (entries.has(key) && !IDENTIFIERS[key].test(entries.get(key) as string)) entries.delete(key);
  }
  return entries;
}

const IDENTIFIERS = {
  $id: /^[^#\s]+#?$/,
  $anchor: /^[A-Za-z_][-A-Za-z0-9._]*$/,
  $dynamicAnchor: /^[A-Za-z_][-A-Za-z0-9._]*$/,
};

function areNames(value: unknown): boolean {
  return (
    isSchema(value) &&
    Object.values(value).every((names) => Array.isArray(names) && names.every((name) => typeof name === 'string'))
  );
}

function areDependencies(value: unknown): boolean {
  return isSchema(value) && Object.values(value).every((entry) => isSchema(entry) || areNames({ entry }));
}

/** Constructs that some engine does not know: look-around, named groups, back-references, classes of Unicode. */
const UNPORTABLE = /\(\?(?!:)|\\[pPkuxc1-9]/;

/** A pattern that not every engine reads is told in words. */
function described(entries: Entries, lose: Lose): Entries {
  const pattern = entries.get('pattern');
  if (typeof pattern !== 'string' || isPortable(pattern)) return entries;
  entries.delete('pattern');
  lose('pattern');
  const description = entries.get('description');
  const sentence = `Has to match the regular expression ${pattern}`;
  return entries.set(
    'description',
    typeof description === 'string' && description !== '' ? `${description} ${sentence}` : sentence,
  );
}

function isPortable(pattern: string): boolean {
  if (UNPORTABLE.test(pattern)) return false;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

/** With the keywords that some providers miss, in a form that allows anything. */
function completed(entries: Entries): Entries {
  const types = [entries.get('type')].flat();
  if (types.includes('array') && !entries.has('items')) entries.set('items', {});
  if (types.includes('object') && !entries.has('properties')) entries.set('properties', {});
  return entries;
}

function hasPortablePatterns(entries: Entries): boolean {
  const patterns = entries.get('patternProperties');
  return !isSchema(patterns) || Object.keys(patterns).every(isPortable);
}

/** Without the patterns of names, and without what is said of all other names, which are no longer known. */
function withoutPatterns(entries: Entries, lose: Lose): Entries {
  entries.delete('patternProperties');
  lose('patternProperties');
  if (entries.get('additionalProperties') !== true) entries.delete('additionalProperties');
  return entries;
}
