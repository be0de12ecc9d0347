import { request } from 'node:http'

/** A request of a sender, in this spelling. */
export interface SentRequest {
  readonly method?: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array
}

/** The answer to the sender. */
export interface SeenAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** Sends a request with its headers in this order and spelling, repeats and all; fetch would join and sort them. */
export function sendRaw(url: string, sent: SentRequest): Promise<SeenAnswer> {
  const { method = 'POST', headers = [], body = '' } = sent
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const hasLength = headers.some(([name]) => name.toLowerCase() === 'content-length')
  const hasHost = headers.some(([name]) => name.toLowerCase() === 'host')
  const host = hasHost ? [] : ['Host', new URL(url).host]
  const length =
    hasLength || method === 'GET' || method === 'HEAD' ? [] : ['Content-Length', String(bytes.length)]
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, headers: [...host, ...headers.flat(), ...length], agent: false },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.on('error', reject)
    outgoing.end(method === 'GET' || method === 'HEAD' ? undefined : bytes)
  })
}
