import { countPiece } from '@creel/core/platform/memory'
import { type RouteInput, routeCall, routeNamed } from './routeCall.ts'

/** Bytes that one call reads at most, which limits the memory of their copies. */
const PIECE_BYTES = 4 * 1024 * 1024
/** Copies that bytes leave behind: of the database's answer, as text, and of the response. */
const COPIES = 5

/** The first octets of something. */
export interface Octets {
  /** One character a byte. */
  readonly text: string
  /** Bytes in all. */
  readonly total: number
}

/** The REST API as the tools call it: with one key, over the network or in process. */
export interface McpApi {
  /**
   * Calls a route by its name, like `requests.list`.
   *
   * @returns the answer; null for 204
   * @throws RefusedCall for every answer that is no success
   */
  call(name: string, input?: RouteInput): Promise<unknown>
  /**
   * The first octets of the answer of a route. Reads 4 MiB a call.
   *
   * @param name of a route whose answer is not empty
   * @param end as many at most; at least 1
   * @throws RefusedCall for every answer that is no success
   */
  octets(name: string, input: RouteInput, end: number): Promise<Octets>
}

/** The API's refusal of a call. The model sees it and may correct its input. */
export class RefusedCall extends Error {
  /** Code of the API's error; empty when the answer had none. */
  readonly reason: string
  /** When the call succeeds, if that is known. */
  readonly retryAfterSeconds: number | undefined
  readonly parts: readonly unknown[]

  /**
   * @param response a refusal
   * @param text its body
   */
  constructor(response: Response, text: string) {
    const { code, detail, errors } = problemIn(text)
    super(code === '' ? `The service answered ${response.status}.` : refusalText(code, detail, errors))
    this.reason = code
    this.parts = errors
    const after = Number(response.headers.get('Retry-After') ?? Number.NaN)
    this.retryAfterSeconds = Number.isFinite(after) ? after : undefined
  }
}

/**
 * The API over any transport.
 *
 * @param send gets a path with its query; adds the key
 */
export function mcpApi(send: (path: string, init: RequestInit) => Promise<Response>): McpApi {
  return {
    async call(name, input = {}) {
      const { method, path, body } = routeCall(routeNamed(name), input)
      const response = await send(path, {
        method,
        ...(body === undefined
          ? {}
          : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new RefusedCall(response, text)
      return text === '' ? null : JSON.parse(text)
    },
    async octets(name, input, end) {
      const { path } = routeCall(routeNamed(name), input)
      let text = ''
      let total = Number.POSITIVE_INFINITY
      while (text.length < Math.min(end, total)) {
        const last = Math.min(end, text.length + PIECE_BYTES) - 1
        const headers = { Range: `bytes=${text.length}-${last}` }
        const response = await send(path, { method: 'GET', headers })
        if (!response.ok) throw new RefusedCall(response, await response.text())
        const piece = Buffer.from(await response.arrayBuffer())
        countPiece(piece.length * COPIES)
        const [, of = piece.length] = /\/(\d+)$/.exec(response.headers.get('Content-Range') ?? '') ?? []
        total = Number(of)
        text += piece.toString('latin1')
      }
      return { text, total }
    },
  }
}

interface ProblemParts {
  readonly code: string
  readonly detail: string
  readonly errors: readonly unknown[]
}

function problemIn(text: string): ProblemParts {
  try {
    const { code, detail, errors = [] } = JSON.parse(text)
    return { code: String(code), detail: String(detail), errors: Array.isArray(errors) ? errors : [] }
  } catch {
    return { code: '', detail: '', errors: [] }
  }
}

/** The text of a problem, without the members that are for programs only. */
function refusalText(code: string, detail: string, errors: readonly unknown[]): string {
  const items = errors.map((item) => {
    const { pointer, parameter, detail: reason } = Object(item)
    return `\n- ${pointer ?? parameter}: ${reason}`
  })
  return `${code}: ${detail}${items.join('')}`
}
