/** What a fetch-style server does with a request: the whole gateway but the capture route. */
export type FetchHandler = (request: Request, client?: FetchClient) => Promise<Response>

/** Who sent a request. */
export interface FetchClient {
  /** As far as we believe proxies; null where nobody knows. */
  readonly address: string | null
}
