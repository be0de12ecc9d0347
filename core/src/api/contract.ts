import { z } from 'zod'
import type { AccessDeclaration } from './access.ts'
import type { Context } from './context.ts'
import type { ErrorCode } from './errors.ts'

/**
 * The complete contract of one REST operation. The gateway, OpenAPI, the docs and the contract tests read only this.
 */
export interface RouteContract extends AccessDeclaration {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{parameters}`, e.g. `/api/v1/endpoints/{endpointId}`. */
  readonly path: `/${string}`
  readonly summary: string
  /** Details beyond the summary; Markdown, for OpenAPI. */
  readonly description?: string
  readonly input: z.ZodObject
  /** A typical first input without the path's parameters, for the description. */
  readonly example?: object
  /** The answer; `z.null()` answers 204. */
  readonly output: z.ZodType
  /** Codes beyond those that every route may answer. The tests fail on an undeclared code. */
  readonly errors?: readonly ErrorCode[]
  /** Default 200; 202 for queued work. A null result always answers 204. */
  readonly status?: 200 | 201 | 202
  /** Input members that are read from the query string although the method has a body (replay's `actionId`). */
  readonly query?: readonly string[]
  /** The one input member that is the whole body (a rule document). */
  readonly body?: string
  /** `Cache-Control` of the answer. An ETag is added, and `If-None-Match` is answered with 304. */
  readonly cacheControl?: string
  /** Media type of the answer when it is not `application/json`. */
  readonly contentType?: string
  /** Set if bodies are not JSON. */
  readonly media?: RouteMedia
  /** Offers the route to agents as a tool. */
  readonly tool?: AgentTool
  /**
   * Set for a short read that depends only on its caller and its input: identical concurrent calls are coalesced. Lists
   * the input members that such a call may have; a call with others is not coalesced.
   */
  readonly shared?: readonly string[]
  /** Checks the caller and finds the objects in the path, before the rest of the input is checked. */
  readonly finds?: Finds<object>
  /** Refuses a plan that lacks the operation, after the 404s and before the 400s. */
  readonly gate?: (context: Context) => void
}

/** Effect of a tool. Clients ask people first where it matters. */
export type ToolEffect =
  /** Changes nothing. */
  | 'reads'
  | 'adds'
  /** Sends requests to other systems. */
  | 'sends'

/** A route as a tool for agents. Its arguments and its answer follow from the route's schemas. */
export interface AgentTool<Member extends string = string> {
  /** Unique among the tools, like `search_requests`. */
  readonly name: string
  readonly title: string
  /** For the model: what it does, and what to do next. */
  readonly description: string
  readonly effect: ToolEffect
  /** The input members that are arguments; default all that are not refused. */
  readonly members?: readonly Member[]
  /**
   * Whether the answer may repeat values of the named request. Values that are masked in the request are then masked in
   * the answer.
   */
  readonly quotesRequest?: true
  /** Members whose argument has another name than the member. */
  readonly renamed?: { readonly [Name in Member]?: string }
  /** Values of members that the model leaves out, where the route's own default does not fit. */
  readonly defaults?: { readonly [Name in Member]?: string | number | boolean }
}

/** The bodies of a route whose bodies are not JSON. */
export interface RouteMedia {
  /** Media type of the request's body, which the procedure reads from `ctx.body` as it arrives. */
  readonly takes?: string
  /** Media types of the answer over REST; the route's output is a {@link Download} or a {@link DownloadStream}. */
  readonly gives?: readonly [string, ...string[]]
  /**
   * Whether the answer may be a part, with 206, as the input asks for it. The output then has `from` and `total`, in
   * octets.
   */
  readonly inParts?: true
}

/** An answer that is not JSON. REST sends its content, `/trpc` the whole object. */
export const Download = z.object({
  contentType: z.string(),
  fileName: z.string().describe('Suggested file name'),
  content: z.string(),
  encoding: z.enum(['utf8', 'base64']).describe('Encoding of `content`'),
})

/** An answer of any size that is not JSON. Each part is made after the client has read the one before. REST only. */
export interface DownloadStream {
  readonly contentType: string
  readonly fileName: string
  readonly parts: AsyncIterable<Uint8Array<ArrayBuffer>>
}

/** The output of a route that answers with a {@link DownloadStream}. */
export const DownloadStream = z.custom<DownloadStream>(
  (value) => typeof value === 'object' && value !== null && 'parts' in value,
)

/** The path's parameters as text, unchecked. */
export type PathIds = Readonly<Record<string, string>>

/**
 * Finds the object in the path and adds it to the procedure's context.
 *
 * @throws DomainError `not_found`, also for malformed ids
 */
export type Finds<Found extends object> = (context: Context, ids: PathIds) => Promise<Found>

/** The complete contract of one stream: a GET that answers `text/event-stream` until either side ends it. */
export interface StreamContract
  extends Pick<
    RouteContract,
    'path' | 'summary' | 'description' | 'input' | 'scope' | 'narrows' | 'errors' | 'finds' | 'gate'
  > {
  readonly method: 'GET'
  /** Data of each event, by its name. */
  readonly events: Readonly<Record<string, z.ZodObject>>
}

/** One event over tRPC: its data and its kind. Over REST `kind` is the event's name. */
export type EventOf<Events extends StreamContract['events']> = {
  [Kind in keyof Events]: { readonly kind: Kind } & z.output<Events[Kind]>
}[keyof Events]
