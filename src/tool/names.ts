import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const HASH_LENGTH = 12;
const LETTER_OR_DIGIT = /[a-zA-Z0-9]/;
const VALID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Whether a model can be shown a tool by this name: 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`. */
export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && VALID.test(name);
}

/**
 * The names by which a model sees the tools of one catalog, in the order of their wire names: normalised, prefixed, at
 * most 64 characters long and all different. The same wire names always give the same names.
 */
export function toolNames(wireNames: readonly string[], prefix = ''): string[] {
  // Most catalogs need no repair at all; their names are different already.
  const names = wireNames.map((wireName) => prefix + wireName);
  if (wireNames.every((name) => LETTER_OR_DIGIT.test(name)) && names.every(isToolName)) return names;
  return repairedNames(wireNames, prefix);
}

function repairedNames(wireNames: readonly string[], prefix: string): string[] {
  const normalised = wireNames.map(normalise);
  const occurrences = new Map<string, number>();
  for (const name of normalised) occurrences.set(name, (occurrences.get(name) ?? 0) + 1);
  const wanted = wireNames.map((wireName, index) => {
    const name = normalised[index] ?? '';
    const shared = (occurrences.get(name) ?? 0) > 1 && name !== wireName;
    return shorten(prefix + (shared ? `${name}_${digest(wireName)}` : name));
  });
  return distinct(wanted, wireNames, prefix);
}

function normalise(wireName: string): string {
  const name = wireName.replace(/[^a-zA-Z0-9_-]/gu, '_');
  return LETTER_OR_DIGIT.test(name) ? name : `tool_${digest(wireName)}`;
}

function shorten(name: string): string {
  if (name.length <= MAX_LENGTH) return name;
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${digest(name)}`;
}

/**
 * Settles what is left: a server may publish a name that looks like the repaired form of another. Names that needed no
 * change come first, then the wire names in their own order, so that the order of the list does not matter.
 */
function distinct(wanted: readonly string[], wireNames: readonly string[], prefix: string): string[] {
  const names = [...wanted];
  const isUnchanged = (wireName: string, index: number): boolean => wanted[index] === prefix + wireName;
  const taken = new Set(wireNames.filter(isUnchanged).map((wireName) => prefix + wireName));
  const changed = [...wireNames.keys()].filter((index) => !isUnchanged(wireNames[index] ?? '', index));
  changed.sort((a, b) => ((wireNames[a] ?? '') < (wireNames[b] ?? '') ? -1 : 1));
  for (const index of changed) {
    let name = wanted[index] ?? '';
    while (taken.has(name)) name = shorten(`${name}_${digest(name)}`);
    taken.add(name);
    names[index] = name;
  }
  return names;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}
