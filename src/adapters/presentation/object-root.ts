import type { JsonSchema } from '../../tool/json-schema';
import { referenced } from './references';
import { isSchema } from './schema-walk';

/** A schema whose root says `type: 'object'` and its properties, and what of the original cannot be said like that. */
export interface ObjectRoot {
  readonly schema: JsonSchema;
  /** Whether it may allow more than the original. */
  readonly isLooser: boolean;
  /** Sentences for the model, each with the JSON Schema that it is about. */
  readonly sentences: readonly string[];
}

/** What no provider takes at the root. */
const REFUSED = ['$ref', '$dynamicRef', '$recursiveRef', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'] as const;
/** What merging carries over as a whole. */
const MERGED = new Set([
  'type',
  'properties',
  'required',
  'title',
  'description',
  '$ref',
  '$defs',
  'definitions',
  '$comment',
]);

/**
 * Gives a schema the root that providers ask for. References and combinations at the root are merged: every parameter of
 * any branch is there, and required are those that are required in any case. So the copy allows every input that a branch
 * describes, and the sentences say what it allows too much.
 */
export function objectRoot(root: JsonSchema): ObjectRoot {
  const inlined = inline(root);
  const merge = new Merge(root);
  const { properties, required } = merge.of(inlined);
  const refused: readonly string[] = REFUSED.some((key) => key in inlined) ? [...REFUSED, 'unevaluatedProperties'] : [];
  const open = merge.isComplete ? [] : ['additionalProperties'];
  const kept = Object.entries(inlined).filter(([key]) => !refused.includes(key) && !open.includes(key));
  const schema = Object.fromEntries([
    ...kept,
    ['type', 'object'],
    ['properties', Object.fromEntries([...properties].map(([name, schemas]) => [name, anyOf(schemas)]))],
    ...(required.size > 0 ? [['required', [...required]] as const] : []),
  ]);
  return { schema, isLooser: refused.length > 0 || inlined !== root, sentences: sentencesOf(inlined) };
}

/** A root that is a reference, replaced by what it refers to. */
function inline(root: JsonSchema): JsonSchema {
  let current = root;
  const seen = new Set<JsonSchema>();
  for (let target = referenced(root, root.$ref); target && !seen.has(target); target = referenced(root, target.$ref)) {
    seen.add(target);
    const { $ref: _, properties, required, ...rest } = current;
    const own =
      properties === undefined && required === undefined
        ? []
        : [{ properties: properties ?? {}, required: required ?? [] }];
    const all = [...(Array.isArray(target.allOf) ? (target.allOf as unknown[]) : []), ...own];
    current = { ...target, ...rest, ...(all.length > 0 && { allOf: all }) };
  }
  if (!('$ref' in current)) return current;
  const { $ref: _, ...rest } = current;
  return rest;
}

/** A schema for what several places say of one property: whatever one of them allows. */
function anyOf(schemas: ReadonlySet<unknown>): unknown {
  const distinct = new Map([...schemas].map((schema) => [JSON.stringify(schema), schema]));
  const [first, ...others] = distinct.values();
  if (distinct.has('{}')) return {};
  return others.length === 0 ? (first ?? {}) : { anyOf: [first, ...others] };
}

function sentencesOf(root: JsonSchema): string[] {
  const { anyOf: some, oneOf: one, allOf: all, not, enum: values, const: value } = root;
  const unmerged = arrayOf(all).filter((part) => Object.keys(Object(part) as object).some((key) => !MERGED.has(key)));
  return [
    ...(Array.isArray(some) ? [`The input must match at least one of ${JSON.stringify(some)}.`] : []),
    ...(Array.isArray(one) ? [`The input must match exactly one of ${JSON.stringify(one)}.`] : []),
    ...(unmerged.length > 0 ? [`The input must match all of ${JSON.stringify(unmerged)}.`] : []),
    ...(not === undefined ? [] : [`The input must not match ${JSON.stringify(not)}.`]),
    ...(values === undefined ? [] : [`The input must be one of ${JSON.stringify(values)}.`]),
    ...(value === undefined ? [] : [`The input must be ${JSON.stringify(value)}.`]),
  ];
}

/** What the branches of a schema say of an object together. */
interface Merged {
  /** Everything that is said of each property. */
  readonly properties: Map<string, Set<unknown>>;
  /** What is required in any case. */
  readonly required: Set<string>;
}

const nothing = (): Merged => ({ properties: new Map(), required: new Set() });

/** Branches within branches, or references one after another, that are followed. */
const MAX_LEVELS = 32;
/** Properties that are merged; schemas can refer to each other so that there would be billions. */
const MAX_MERGED = 100_000;

class Merge {
  private readonly done = new Map<JsonSchema, Merged>();
  private merged = 0;
  private isCut = false;

  constructor(private readonly root: JsonSchema) {}

  /** Whether all properties of all branches are there. */
  get isComplete(): boolean {
    return !this.isCut && !this.isFull;
  }

  private get isFull(): boolean {
    return this.merged > MAX_MERGED;
  }

  of(schema: unknown, level = 1): Merged {
    this.isCut ||= level > MAX_LEVELS;
    if (!isSchema(schema) || level > MAX_LEVELS) return nothing();
    const known = this.done.get(schema);
    if (known) return known;
    const result = nothing();
    this.done.set(schema, result); // a circle adds nothing
    for (const [name, property] of Object.entries(Object(schema.properties) as object))
      this.add(result, name, [property]);
    for (const name of arrayOf(schema.required)) result.required.add(name as string);
    const all = [referenced(this.root, schema.$ref), ...arrayOf(schema.allOf)];
    for (const part of new Set(all.map((entry) => this.of(entry, level + 1)))) {
      this.addAll(result, part);
      for (const name of part.required) result.required.add(name);
    }
    for (const group of [arrayOf(schema.anyOf), arrayOf(schema.oneOf)]) {
      const parts = [...new Set(group.filter(mayBeObject).map((entry) => this.of(entry, level + 1)))];
      for (const part of parts) this.addAll(result, part);
      const [first, ...others] = parts;
      for (const name of first?.required ?? []) {
        if (others.every(({ required }) => required.has(name))) result.required.add(name);
      }
    }
    return result;
  }

  private addAll(result: Merged, part: Merged): void {
    for (const [name, schemas] of part.properties) {
      this.add(result, name, schemas);
      if (this.isFull) return;
    }
  }

  private add({ properties }: Merged, name: string, schemas: Iterable<unknown>): void {
    this.merged += 1;
    if (this.isFull) return;
    const known = properties.get(name) ?? new Set();
    properties.set(name, known);
    for (const schema of schemas) known.add(schema);
  }
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function mayBeObject(schema: unknown): boolean {
  const type = isSchema(schema) ? schema.type : undefined;
  return type === undefined || [type].flat().includes('object');
}
