import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerWithFetch, pathOf } from './fetchAdapter.ts'
import type { FetchHandler } from './fetchHandler.ts'
import type { FormerHosts } from './formerHosts.ts'
import { createSilentSenders } from './silentSenders.ts'

/** Takes a capture on the bare request, so that wire order, spelling, repeats and the raw target survive. */
export type CaptureHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface ListenerOptions {
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
  /** Comes before anything else, captures included. */
  readonly formerHosts?: FormerHosts
  /** Answers everything under `/hook/`; absent on a listener that takes no captures. */
  readonly capture?: CaptureHandler
  /** Answers everything else. */
  readonly fetch: FetchHandler
  /** Hears of what `fetch` throws, whose client gets a bare 500, and of trouble with the port. */
  readonly onError: (error: unknown) => void
  /** A sender that sends nothing for so long is cut off; 30 unless told (CONTRACT R17). */
  readonly silenceSeconds?: number
}

export interface Listener {
  readonly port: number
  /**
   * Stops accepting at once and lets what is in flight end.
   *
   * @param graceMs after which whatever is still open is cut off
   */
  close(graceMs: number): Promise<void>
}

/** Every path that starts so belongs to a sender. */
export const CAPTURE_PREFIX = '/hook/'

const DEFAULT_SILENCE_SECONDS = 30
/**
 * The request line and all header fields. Above what a capture keeps of the headers (64 KB), so that a long
 * target and long headers fit together. Bun also refuses more than 198 header fields; neither limit of its
 * parser can be lifted further.
 */
const MAX_HEADER_BYTES = 160 * 1024
/** Longer than proxies keep idle connections to us, so that they never send into one that we are closing. */
const KEEP_ALIVE_SECONDS = 75

/**
 * Opens the gateway's port: node:http, because fetch-style servers join, sort and lower headers, fold dot
 * segments and drop the bodies of GETs (DESIGN §4). No limit of the framework stays at its default: bodies have no
 * size limit here (each handler has its own), and answers may take as long as they need.
 *
 * @throws what the system says when the port cannot be had
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { capture, onError, silenceSeconds = DEFAULT_SILENCE_SECONDS } = options
  const senders = createSilentSenders(silenceSeconds)
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (awaitsBody(request)) senders.watch(request)
    if (options.formerHosts?.(request, response)) return
    if (capture !== undefined && pathOf(request.url ?? '').startsWith(CAPTURE_PREFIX)) {
      capture(request, response)
      return
    }
    answerWithFetch(options.fetch, request, response).catch((error: unknown) => {
      if (response.destroyed) return
      onError(error)
      if (!response.headersSent) response.writeHead(500, { 'Content-Length': 0 })
      response.end()
    })
  }
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      // Bun 1.4 enforces this one, but gives up on a new connection after 12 s at the latest (oven-sh/bun#35672).
      headersTimeout: silenceSeconds * 1000,
      connectionsCheckingInterval: Math.min(1000, silenceSeconds * 100),
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_SECONDS * 1000,
    },
    answer,
  )
  // An `Expect` that nobody knows would get 417 from the framework: storage never rejects a sender.
  server.on('checkExpectation', answer)
  server.on('clientError', refuse)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, () => {
      server.off('error', reject)
      server.on('error', onError)
      resolve()
    })
  })
  const address = server.address()
  return {
    port: address !== null && typeof address === 'object' ? address.port : options.port,
    close: (graceMs) =>
      new Promise((resolve) => {
        // Connections that are kept alive become idle one by one, as their answers end.
        const sweep = setInterval(() => server.closeIdleConnections(), 20)
        const cut = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearInterval(sweep)
          clearTimeout(cut)
          senders.stop()
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

function awaitsBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return (length !== undefined && length !== '0') || request.headers['transfer-encoding'] !== undefined
}

/** Answers what is no HTTP, or more of it than the parser takes; a silent sender gets a plain hang-up. */
function refuse(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    socket.destroy()
    return
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
