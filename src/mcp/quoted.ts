const LONGEST_QUOTE = 80;

/** A server's own name, as errors and warnings quote it: without control characters and not too long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > LONGEST_QUOTE ? `${name.slice(0, LONGEST_QUOTE).toWellFormed()}…` : name);
}
