import { connect } from 'node:net'

/** An answer from a bare socket. */
export interface RawAnswer {
  readonly status: number
  /** The head as received, without the status line; one field a line. */
  readonly fields: readonly string[]
  readonly body: string
}

/**
 * Sends exact bytes to the host of a URL, for requests that no HTTP client sends: odd targets, repeated and misspelled
 * headers, bodies on GET. The request must have `Connection: close`.
 *
 * @param parts sent one after the other; a string is latin1
 */
export function sendRaw(url: string, ...parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    const socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
    socket.on('close', () => resolve(parseAnswer(Buffer.concat(chunks).toString('latin1'))))
    for (const part of parts) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  })
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...fields] = text.slice(0, end < 0 ? text.length : end).split('\r\n')
  return { status: Number(statusLine.split(' ')[1]), fields, body: end < 0 ? '' : text.slice(end + 4) }
}
