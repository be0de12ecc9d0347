import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** One connection that is kept, with a request at a time. It stays with the process that accepted it. */
export class KeptConnection {
  readonly closed: Promise<void>
  isClosed = false
  readonly #socket: Socket
  readonly #port: number
  #text = ''
  #arrived = Promise.withResolvers<void>()

  private constructor(socket: Socket, port: number) {
    this.#socket = socket
    this.#port = port
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      this.#text += String(text)
      this.#arrived.resolve()
    })
    socket.on('error', () => {})
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.isClosed = true
        this.#arrived.resolve()
        resolve()
      }),
    )
  }

  /** @param url any of the service's */
  static async open(url: string): Promise<KeptConnection> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const kept = new KeptConnection(socket, Number(port))
    await Promise.race([new Promise<void>((resolve) => socket.once('connect', () => resolve())), kept.closed])
    return kept
  }

  /** The process that has accepted the connection; undefined until it has. */
  servedBy(pids: readonly number[]): number | undefined {
    const inode = inodeOf(this.#port, this.#socket.localPort ?? 0)
    return pids.find((pid) => socketsOf(pid).has(inode))
  }

  write(bytes: string): void {
    this.#socket.write(bytes, 'latin1')
  }

  /**
   * Sends a request and reads its answer.
   *
   * @throws Error when the connection ends before that
   */
  async ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): Promise<{ status: number; body: string }> {
    const fields = Object.entries({ Host: 'x', 'Content-Length': String(body.length), ...headers })
    this.write(
      `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
    )
    return await this.answer()
  }

  /** The next answer. */
  async answer(): Promise<{ status: number; body: string }> {
    for (;;) {
      const answer = takeAnswer(this.#text)
      if (answer !== undefined) {
        this.#text = answer.rest
        return answer
      }
      if (this.isClosed) throw new Error('The connection was closed before the answer.')
      await this.#arrived.promise
      this.#arrived = Promise.withResolvers()
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}

function takeAnswer(text: string): { status: number; body: string; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const status = Number(head.split(' ')[1])
  const rest = text.slice(end + 4)
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return takeChunks(status, rest)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  return rest.length < length ? undefined : { status, body: rest.slice(0, length), rest: rest.slice(length) }
}

function takeChunks(status: number, text: string) {
  let body = ''
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const bytes = Number.parseInt(text.slice(at, lineEnd), 16)
    const next = lineEnd + 2 + bytes + 2
    if (text.length < next) return undefined
    if (bytes === 0) return { status, body, rest: text.slice(next) }
    body += text.slice(lineEnd + 2, lineEnd + 2 + bytes)
    at = next
  }
}

/** The kernel's number of the service's end of a loopback connection. */
function inodeOf(port: number, clientPort: number): string {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0')
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/)
    if (local.endsWith(`:${hex(port)}`) && remote.endsWith(`:${hex(clientPort)}`)) return inode
  }
  return ''
}

function socketsOf(pid: number): ReadonlySet<string> {
  const folder = `/proc/${pid}/fd`
  const links = readdirSync(folder).flatMap((name) => {
    try {
      return readlinkSync(`${folder}/${name}`)
    } catch {
      // Closed meanwhile.
      return []
    }
  })
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
}

/** The processes that a process has started and that still run. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(/\s+/)
    .flatMap((text) => (text === '' ? [] : Number(text)))
}
