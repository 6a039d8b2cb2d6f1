import type { JsonSchema } from '../../tool/json-schema';
import { isSchema, KEYWORDS, mapSchemas, NOT_READ } from './schema-walk';

/** The entries of one schema, its sub-schemas already copied. */
export type Entries = Map<string, unknown>;

/** Leaves keywords out of a schema, and names those whose absence makes it allow more. */
export type LooseningEdit = (entries: Entries, lose: (keyword: string) => void) => Entries;

/**
 * A copy of a schema from which an edit leaves keywords out, and which allows all that the schema does: where a schema
 * must not match, or where something depends on whether it matches, allowing more there would mean less for the whole, so
 * that is left out as well.
 */
export function loosened(root: JsonSchema, edit: LooseningEdit): JsonSchema {
  // What is lost at one place matters at others: those that refer to it, or ask what of a value has been evaluated.
  let known: ReadonlySet<string> = new Set();
  for (;;) {
    const loosening = new Loosening(edit, known);
    const copy = mapSchemas(root, (entries) => loosening.copy(entries));
    if (loosening.lost.size === known.size) return copy;
    known = loosening.lost;
  }
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
/** Keywords that count names or items as evaluated (JSON Schema 2020-12, unevaluated locations). */
const EVALUATING = [
  ...REFERENCES,
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'],
  ...['items', 'prefixItems', 'contains', 'unevaluatedItems'],
  ...['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'],
];

class Loosening {
  readonly lost: Set<string>;
  /** The copies that allow more than their originals. */
  private readonly looser = new WeakSet<object>([NOT_READ]);

  constructor(
    private readonly edit: LooseningEdit,
    private readonly known: ReadonlySet<string>,
  ) {
    this.lost = new Set(known);
  }

  copy(entries: Entries): JsonSchema {
    let isLooser = this.known.size > 0 && REFERENCES.some((key) => entries.has(key));
    const lose = (keyword: string): void => {
      isLooser = true;
      this.lost.add(keyword);
    };
    for (const [key, value] of entries) {
      const parts = schemasUnder(key, value);
      if (parts.includes(NOT_READ)) lose(key);
      isLooser ||= parts.some((part) => this.isLooser(part));
    }
    this.openAround(entries, lose);
    const copy = Object.fromEntries(this.edit(entries, lose));
    if (isLooser) this.looser.add(copy);
    return copy;
  }

  private isLooser(schema: unknown): boolean {
    return isSchema(schema) && this.looser.has(schema);
  }

  /** Leaves out what would allow less because a schema in it allows more. */
  private openAround(entries: Entries, lose: (keyword: string) => void): void {
    const drop = (...keys: string[]): void => {
      for (const key of keys) if (entries.delete(key)) lose(key);
    };
    if (this.isLooser(entries.get('not'))) drop('not');
    if (this.isLooser(entries.get('if'))) drop('if', 'then', 'else');
    if (this.isLooser(entries.get('contains'))) drop('maxContains');
    const one = entries.get('oneOf');
    if (Array.isArray(one) && one.some((branch) => this.isLooser(branch))) {
      const others = entries.has('anyOf') ? [{ anyOf: entries.get('anyOf') }] : [];
      drop('oneOf');
      entries.set('anyOf', one);
      if (others.length > 0) entries.set('allOf', [...arrayOf(entries.get('allOf')), ...others]);
    }
    if (!EVALUATING.some((key) => this.known.has(key))) return;
    for (const key of ['unevaluatedProperties', 'unevaluatedItems']) if (entries.get(key) !== true) drop(key);
  }
}

function schemasUnder(key: string, value: unknown): readonly unknown[] {
  const kind = KEYWORDS.get(key);
  if (kind === 'schema') return [value].flat();
  if (kind === 'schemas') return arrayOf(value);
  return kind === 'schemaMap' && isSchema(value) ? Object.values(value) : [];
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
