import { z } from 'zod'
import type { FetchHandler } from '../http/fetchAnswer.ts'
import { answerOfKept } from '../http/longAnswer.ts'

const Place = z.tuple([z.int().min(0), z.int().min(0)])

const PackedFile = z.object({
  path: z.string(),
  type: z.string(),
  /** Whether the file's name changes with its content. */
  isHashed: z.boolean(),
  /** Already compressed by its own format, so it is sent unchanged. */
  isPacked: z.boolean(),
  etag: z.string(),
  /** Offset of each body after the index, and its length. */
  bodies: z.object({ br: Place, gzip: Place, identity: Place }),
})
type PackedFile = z.output<typeof PackedFile>

type Encoding = keyof PackedFile['bodies']

/**
 * Allows our own files only: no inline script or style, no frame but sandboxed previews, no text that becomes markup or
 * script.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const COMMON_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  Vary: 'Accept-Encoding',
}

const CONSOLE_PATH = '/console/'

/**
 * Handlers for the files of a pack that `scripts/console/pack.ts` has built. Hashed files may be cached for ever. The page is
 * revalidated each time, and answered 304 while it is unchanged. A path without a dot that names no file gets the page,
 * so that every address of the console can be reloaded.
 *
 * @param pack undefined: no files are served; else four bytes with the length of the index, big-endian; the index,
 *   JSON; every body
 * @throws ZodError, RangeError when it is no pack
 */
export function consoleFiles(
  pack: Uint8Array<ArrayBuffer> | undefined,
): Readonly<Record<string, FetchHandler>> {
  if (pack === undefined) return {}
  const serve = fileServer(pack)
  return { '/': async () => toConsole(), [CONSOLE_PATH]: serve, [`${CONSOLE_PATH}*`]: serve }
}

function fileServer(pack: Uint8Array<ArrayBuffer>): FetchHandler {
  const indexLength = new DataView(pack.buffer, pack.byteOffset, pack.byteLength).getUint32(0)
  const start = 4 + indexLength
  const index: unknown = JSON.parse(new TextDecoder().decode(pack.subarray(4, start)))
  const files = new Map(
    z
      .array(PackedFile)
      .parse(index)
      .map((file) => [CONSOLE_PATH + file.path, file]),
  )
  // Pages of the gateway name the font without its hash.
  const font = [...files].find(([path]) => path.startsWith(`${CONSOLE_PATH}inter-`))?.[1]
  if (font !== undefined) files.set(`${CONSOLE_PATH}inter.woff2`, { ...font, isHashed: false })
  const page = files.get(`${CONSOLE_PATH}index.html`)
  return async (request) => {
    const { pathname } = new URL(request.url)
    // The router treats the path with and without its trailing slash alike.
    if (!pathname.startsWith(CONSOLE_PATH)) return toConsole()
    const file = files.get(pathname) ?? (pathname.includes('.') ? undefined : page)
    if (file === undefined) return new Response('Not Found', { status: 404, headers: NOT_FOUND_HEADERS })
    const encoding = encodingFor(request, file)
    const etag = encoding === 'identity' ? file.etag : file.etag.replace(/"$/, `-${encoding}"`)
    const headers: Record<string, string> = {
      ...COMMON_HEADERS,
      'Content-Type': file.type,
      ETag: etag,
      'Cache-Control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    }
    if (isKnown(request, etag)) return new Response(null, { status: 304, headers })
    if (encoding !== 'identity') headers['Content-Encoding'] = encoding
    const [from, length] = file.bodies[encoding]
    return answerOfKept(pack.subarray(start + from, start + from + length), { headers })
  }
}

function toConsole(): Response {
  return new Response(null, { status: 303, headers: { Location: CONSOLE_PATH } })
}

const NOT_FOUND_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }

/** Browsers send far less. Reading 150 KB of commas takes several times as long as receiving them. */
const LIST_LENGTH_MAX = 2048

/** The parts of a field that is a list. */
function listOf(request: Request, name: string): string[] {
  return (request.headers.get(name) ?? '').slice(0, LIST_LENGTH_MAX).split(',')
}

/** The smallest encoding that the client accepts. */
function encodingFor(request: Request, { isPacked }: PackedFile): Encoding {
  if (isPacked) return 'identity'
  const accepted = listOf(request, 'accept-encoding').flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name]
  })
  if (accepted.includes('br')) return 'br'
  return accepted.includes('gzip') ? 'gzip' : 'identity'
}

function isKnown(request: Request, etag: string): boolean {
  return listOf(request, 'if-none-match').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
