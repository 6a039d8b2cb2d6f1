/** A JSON Schema object, kept exactly as its author wrote it. */
export type JsonSchema = Readonly<Record<string, unknown>>;
