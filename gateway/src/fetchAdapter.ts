import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FetchHandler } from './fetchHandler.ts'

/**
 * Answers a node:http request with a fetch handler.
 *
 * The body streams as fast as the handler reads it; the request's signal is aborted when the client hangs up
 * before it has its answer; HEAD is asked as GET and answered without the body (CONTRACT R7).
 */
export async function answerWithFetch(
  handler: FetchHandler,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const hangUp = new AbortController()
  response.on('close', () => {
    if (!response.writableFinished) hangUp.abort()
  })
  const received = receiveBody(request)
  const answer = await handler(toFetchRequest(request, received.stream, hangUp.signal))
  const body = await answer.bytes()
  await received.dropRest()
  if (response.destroyed) return
  const headers = [...answer.headers].flat()
  const bodiless = answer.status === 204 || answer.status === 304
  if (!bodiless && !answer.headers.has('content-length')) headers.push('Content-Length', String(body.length))
  response.writeHead(answer.status, headers)
  response.end(bodiless || request.method === 'HEAD' ? undefined : body)
}

/**
 * The request target as a path: an absolute-form target (`GET http://host/path`, as sent to proxies) loses its
 * origin, everything else is left as it was sent.
 */
export function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  const authority = target.indexOf('://')
  const path = authority < 0 ? -1 : target.indexOf('/', authority + 3)
  return path < 0 ? '/' : target.slice(path)
}

function toFetchRequest(
  request: IncomingMessage,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Request {
  const headers = new Headers()
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    headers.append(request.rawHeaders[index] ?? '', request.rawHeaders[index + 1] ?? '')
  }
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
  // The host plays no part in routing; one that we name always parses.
  return new Request(`http://localhost${pathOf(request.url ?? '/')}`, {
    method,
    headers,
    signal,
    body: method === 'GET' ? null : body,
  })
}

interface ReceivedBody {
  readonly stream: ReadableStream<Uint8Array>
  /**
   * Reads on to the end without keeping anything. To be awaited before the answer is written: Bun takes no
   * further request from a connection on which an answer overtook the end of its request.
   */
  dropRest(): Promise<void>
}

function receiveBody(request: IncomingMessage): ReceivedBody {
  let dropping = false
  const over = new Promise<void>((resolve) => {
    request.on('end', resolve)
    request.on('close', resolve)
  })
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      request.on('data', (chunk: Uint8Array) => {
        if (dropping) return
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) request.pause()
      })
      request.on('end', () => dropping || controller.close())
      request.on('error', (error) => dropping || controller.error(error))
    },
    pull() {
      request.resume()
    },
    cancel() {
      dropping = true
      request.resume()
    },
  })
  return {
    stream,
    async dropRest() {
      dropping = true
      if (request.complete || request.destroyed) return
      request.resume()
      await over
    },
  }
}
