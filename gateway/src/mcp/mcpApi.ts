import { type Problem, ROUTES, type Route } from '@creel/core'
import { countPiece } from '@creel/core/platform/memory'
import type { CallAnswer, Creel, CreelError, operations } from 'creel-client'

/** Bytes that one call reads at most, which limits the memory of their copies. */
const PIECE_BYTES = 4 * 1024 * 1024
/** Copies that bytes leave behind: of the database's answer, as text, and of the response. */
const COPIES = 5

/**
 * Finds a declared route by its dotted name, like `requests.list`.
 *
 * @throws Error when there is none
 */
export function routeNamed(name: string): Route {
  const route = ROUTES.find((one) => one.name === name)
  if (route === undefined) throw new Error(`No route is called ${name}.`)
  return route
}

/** The first octets of something. */
export interface Octets {
  /** One character a byte. */
  readonly text: string
  /** Bytes in all. */
  readonly total: number
}

/** Input of a route by the names of its members, as a model gave them: the route checks them. */
export type RouteInput = Readonly<Record<string, unknown>>

type Answer<Name extends string> = Name extends `${infer Noun}.${infer Verb}`
  ? `${Noun}_${Verb}` extends keyof operations
    ? CallAnswer<`${Noun}_${Verb}`>
    : unknown
  : unknown

/** The REST API as the tools call it: with one key, over the network or in process. */
export interface McpApi {
  /**
   * Calls a route by its name, like `requests.list`.
   *
   * @returns the answer; undefined for 204
   * @throws CreelError for every answer that is no success
   */
  call<const Name extends string>(name: Name, input?: RouteInput): Promise<Answer<Name>>
  /**
   * The first octets of what a path answers, which is not empty. Reads 4 MiB a call.
   *
   * @param end as many at most; at least 1
   * @throws CreelError for every answer that is no success
   */
  octets(path: string, end: number): Promise<Octets>
}

/** The API over a client, which does not repeat calls. */
export function mcpApi(creel: Creel): McpApi {
  return {
    async call(name, input = {}) {
      const { method, path, query = [] } = routeNamed(name)
      return await creel.call([`${method} ${path}`, ...query].join('?'), input)
    },
    async octets(path, end) {
      let text = ''
      let total = Number.POSITIVE_INFINITY
      while (text.length < Math.min(end, total)) {
        const last = Math.min(end, text.length + PIECE_BYTES) - 1
        const response = await creel.send(path, { headers: { Range: `bytes=${text.length}-${last}` } })
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

/** Arguments by the members of the API that they give, where the names differ. */
export type Renamed = Readonly<Record<string, string | undefined>>

/** A refusal as the model sees it, which may correct its input. Members that are for programs only are left out. */
export function refusalText(
  { code, detail, errors = [], status }: CreelError | Problem,
  renamed: Renamed = {},
): string {
  if (code === 'unexpected_answer') return `The service answered ${status}.`
  const items = errors.map(
    ({ pointer, parameter, detail: reason }) => `\n- ${pointer ?? parameter}: ${reason}`,
  )
  return Object.entries(renamed).reduce(
    (text, [member, name]) =>
      text.replaceAll(new RegExp(`(: |- (?:#/)?)${member}\\b`, 'g'), `$1${name ?? member}`),
    `${code}: ${detail}${items.join('')}`,
  )
}
