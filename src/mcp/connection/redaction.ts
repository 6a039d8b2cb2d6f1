const SHORTEST_SECRET = 4;

/** A function that takes `secrets` out of a text. */
export function redaction(secrets: readonly string[]): (text: string) => string {
  const parts = new Set(secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]));
  const hidden = [...parts].filter((part) => part.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((redacted, part) => redacted.replaceAll(part, '[redacted]'), text);
}
