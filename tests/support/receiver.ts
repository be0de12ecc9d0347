import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** A request at a receiver. */
export interface Received {
  readonly method: string
  readonly url: string
  /** Wire order, spelling and repeats; values as latin1. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** The last value of a field, without case. */
  header(name: string): string | undefined
}

/** Answer of a receiver; a function writes the answer itself, or none. */
export type ReceiverAnswer =
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string | readonly string[]>>
      readonly body?: string | Uint8Array
    }
  | ((request: Received, response: ServerResponse) => void)

/** An HTTP server as a destination of forwards. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Everything that arrived, in order. */
  readonly received: readonly Received[]
  /** Answer to the next requests; 200 at first. */
  answer: ReceiverAnswer
  /** Resolves with the first `count` requests, as soon as they have arrived. */
  take(count: number): Promise<Received[]>
}

/** Starts a receiver on a free port of the loopback address. */
export async function startReceiver(answer: ReceiverAnswer = { status: 200 }): Promise<Receiver> {
  const received: Received[] = []
  let arrived = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    // A sender that dies within its body has sent nothing.
    const one = await readWhole(request).catch(() => undefined)
    if (one === undefined) return
    received.push(one)
    arrived.resolve()
    arrived = Promise.withResolvers()
    const { answer: now } = receiver
    if (typeof now === 'function') return now(one, response)
    for (const [name, value] of Object.entries(now.headers ?? {})) response.setHeader(name, value)
    response.writeHead(now.status)
    response.end(now.body ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hooks`,
    port: address.port,
    received,
    answer,
    async take(count) {
      while (received.length < count) await arrived.promise
      return received.slice(0, count)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

async function readWhole(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const rawHeaders: [string, string][] = []
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2)
    rawHeaders.push([request.rawHeaders[at] ?? '', request.rawHeaders[at + 1] ?? ''])
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    rawHeaders,
    body: Buffer.concat(chunks),
    header: (name) => rawHeaders.findLast(([field]) => field.toLowerCase() === name.toLowerCase())?.[1],
  }
}
