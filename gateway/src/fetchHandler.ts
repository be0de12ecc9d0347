/** The handler of a fetch-style server: all of the gateway except the capture route. */
export type FetchHandler = (request: Request, client?: FetchClient) => Promise<Response>

/** The sender of a request. */
export interface FetchClient {
  /** Taken from trusted proxies; null when unknown. */
  readonly address: string | null
}
