/** What a fetch-style server does with a request: the whole gateway but the capture route. */
export type FetchHandler = (request: Request) => Promise<Response>
