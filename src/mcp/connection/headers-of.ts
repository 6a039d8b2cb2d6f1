/** The headers of a request, to be read only. */
export function headersOf({ headers }: RequestInit): Headers {
  return headers instanceof Headers ? headers : new Headers(headers);
}
