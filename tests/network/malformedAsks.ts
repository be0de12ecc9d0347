import type { Random } from '../faults/random.ts'

/** Malformed HTTP, and the statuses that may refuse it. */
export interface Malformed {
  readonly name: string
  readonly bytes: Buffer
  readonly statuses: readonly number[]
}

const LONG_HEAD_BYTES = 170_000
const FIELDS = 1010

/** Makes one of many malformed requests. Bytes after it are never read as a request. */
export function malformed(random: Random, tag: string): Malformed {
  const head = `POST /hook/${tag} HTTP/1.1\r\nHost: h\r\n`
  const text = (name: string, content: string, ...statuses: number[]): Malformed => ({
    name,
    bytes: Buffer.from(content, 'latin1'),
    statuses: statuses.length === 0 ? [400] : statuses,
  })
  return random.pick([
    () => text('no HTTP', `${'\x16\x03\x01\x02'.repeat(8)}\r\n\r\n`),
    () => text('a length beside chunks', `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`),
    () => text('two lengths', `${head}Content-Length: 4\r\nContent-Length: 5\r\n\r\n`),
    () => text('two Host fields', `${head}Host: g\r\n\r\n`),
    () => text('another version', 'GET / HTTP/3.1\r\nHost: h\r\n\r\n', 400, 505),
    () => text('a blank in a name', `${head}X Y: 1\r\n\r\n`),
    () => text('a negative length', `${head}Content-Length: -1\r\n\r\n`),
    () => text('a long head', `${head}X-Long: ${'x'.repeat(LONG_HEAD_BYTES)}\r\n\r\n`, 431),
    () => text('many fields', `${head}${'X-A: 1\r\n'.repeat(FIELDS)}\r\n`, 431),
    () => text('a coding that is not chunked', `${head}Transfer-Encoding: gzip\r\n\r\n`),
  ])()
}
