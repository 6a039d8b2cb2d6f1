/**
 * Of an object's fields, leaves only `fields` to whatever goes through them all: printing, in a log or by a test that
 * fails, and comparing as `toEqual` does. The others can be read as before. (Private names would not do: tsyringe's
 * `delay()` puts a proxy before an object, which has none.)
 */
export function showOnly<T extends object>(object: T, fields: readonly (keyof T)[]): void {
  for (const field of Object.keys(object)) {
    if (!fields.includes(field as keyof T)) Object.defineProperty(object, field, { enumerable: false });
  }
}

/** Sets fields that nobody is to assign to, and that are shown. */
export function show<T extends object>(object: T, fields: Readonly<Partial<T>>): void {
  for (const [field, value] of Object.entries(fields)) {
    Object.defineProperty(object, field, { value, enumerable: true, configurable: true });
  }
}
