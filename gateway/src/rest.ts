import { createHash } from 'node:crypto'
import {
  authenticate,
  type Context,
  contextOf,
  createCaller,
  createTransferCaller,
  DomainError,
  Download,
  DownloadStream,
  type Locate,
  locateInBody,
  ROUTES,
  type Route,
  type Services,
  STREAMS,
  type Stream,
  toProblem,
} from '@creel/core'
import { Elysia } from 'elysia'
import type { ElysiaAdapter } from 'elysia/adapter'
import { z } from 'zod'
import { type CallNotes, logged, noteError } from './callLog.ts'
import { eventStream } from './eventStream.ts'
import { answerOfText, streamOf } from './http/longAnswer.ts'
import { counted, inputReader } from './input.ts'
import { presentedBy, traceIdOf } from './requestIdentity.ts'
import { type Call, jsonOf } from './sharedCalls.ts'

/**
 * Binds every route of the router to its method and path, so routes need no code here.
 *
 * Checks run in this order: key, plan, budget, path objects, feature, body and input, conflicts.
 */
export function rest(services: Services, adapter?: ElysiaAdapter) {
  const app = new Elysia(adapter === undefined ? {} : { adapter })
  for (const route of ROUTES) {
    app.route(route.method, pattern(route.path), bind(services, route), { parse: 'none' })
  }
  for (const stream of STREAMS) {
    app.route(stream.method, pattern(stream.path), bindStream(services, stream), { parse: 'none' })
  }
  for (const path of ['/api/v1', '/api/v1/*']) {
    app.all(path, ({ request }) => logged(services, 'unknown', request, unknownRoute(services, request)), {
      parse: 'none',
    })
  }
  // All other paths below `/api/` answer 404, and no key is needed.
  app.all('/api/*', ({ request }) => problemResponse(services, noRoute(), { traceId: traceIdOf(request) }), {
    parse: 'none',
  })
  return app
}

const noRoute = (detail = 'There is no such route.') => new DomainError('not_found', detail)

/**
 * Whether a call that changes something has a `/` at the end of its path. The framework takes that for the path
 * without it, so that a deletion of one request with an empty id would delete all of them.
 */
function changesWithSlash({ method, url }: Request): boolean {
  return !['GET', 'HEAD'].includes(method) && (url.split('?', 1)[0] ?? '').endsWith('/')
}

function unknownRoute(services: Services, request: Request) {
  return async (notes: CallNotes): Promise<Response> => {
    try {
      notes.caller = await authenticate(services, presentedBy(request))
      throw noRoute()
    } catch (error) {
      return problemResponse(services, error, { traceId: traceIdOf(request) })
    }
  }
}

const pattern = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1')

function bind(services: Services, route: Route) {
  return bound(services, route, async (request, call) =>
    route.media?.gives === undefined
      ? answer(request, route, await jsonOf(route, request.url, call))
      : downloadResponse(route, await call.make(call.context, call.input)),
  )
}

/** Binds a stream. Its procedure returns the events one by one, and refuses a call before the first. */
function bindStream(services: Services, stream: Stream) {
  return bound(services, stream, async (_request, { make, context, input }) =>
    eventStream(services, await make(context, input)),
  )
}

/** Answers calls of a procedure: key, input, the procedure itself, and its result as a response. */
function bound(
  services: Services,
  route: Route | Stream,
  respond: (request: Request, call: Call) => Promise<Response>,
) {
  const isTransfer = 'restOnly' in route && route.restOnly
  const make = (context: Context, input: unknown) =>
    procedureOf(isTransfer ? createTransferCaller(context) : createCaller(context), route.name)(input)
  const reader = inputReader(route)
  return ({ request, params = {} }: { request: Request; params?: Record<string, string> }) =>
    logged(services, route.name, request, async (notes) => {
      const traceId = traceIdOf(request)
      let input: unknown
      let locate: Locate = locateInBody
      try {
        const identity = await authenticate(services, presentedBy(request))
        notes.caller = identity
        if (changesWithSlash(request)) throw noRoute('There is no such route: its path ends in "/".')
        const context = contextOf(services, identity, { signal: request.signal, traceId })
        const raw = await reader.all(request, params).catch(async (error: unknown) => {
          // If the path names nothing, the 404 takes precedence over an unreadable body.
          await route.finds?.(context, params)
          throw error
        })
        input = raw.value
        locate = raw.locate
        return await respond(request, {
          context: { ...context, rawBody: raw.rawBody, body: raw.body },
          input,
          make,
        })
      } catch (error) {
        return problemResponse(services, error, { traceId, input, locate })
      }
    })
}

/** Finds a procedure of the caller by its dotted name; the caller is nested, and typed by noun. */
function procedureOf(caller: unknown, name: string): (input: unknown) => Promise<unknown> {
  const found = name.split('.').reduce<unknown>((value, part) => Reflect.get(Object(value), part), caller)
  if (typeof found !== 'function') throw new Error(`The router has no procedure ${name}.`)
  return (input) => found(input)
}

/** @param body JSON in pieces, or null for an answer without content */
function answer(request: Request, route: Route, body: Awaited<ReturnType<typeof jsonOf>>) {
  if (body === null) return new Response(null, { status: 204, headers: { 'Cache-Control': 'no-store' } })
  const headers: Record<string, string> = {
    'Content-Type': route.contentType ?? 'application/json',
    'Cache-Control': route.cacheControl ?? 'no-store',
  }
  if (route.cacheControl !== undefined) {
    headers.ETag = `"${createHash('sha256').update(body.join('')).digest('base64url').slice(0, 27)}"`
    if (matchesETag(request.headers.get('if-none-match'), headers.ETag)) {
      return new Response(null, { status: 304, headers })
    }
  }
  return answerOfText(body, 'utf8', { status: route.status ?? 200, headers })
}

function matchesETag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false
  return ifNoneMatch.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))
}

/** The problem+json answer for any error. Unexpected errors are logged under their traceId. */
export function problemResponse(
  services: Services,
  error: unknown,
  options: { traceId: string; input?: unknown; locate?: Locate },
): Response {
  const problem = toProblem(error, options)
  const refusal = noteError(services, error, options.traceId, options.input)
  const headers: Record<string, string> = {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
  }
  const retryAfterSeconds = refusal?.more.retryAfterSeconds
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds)
  if (problem.status === 401) headers['WWW-Authenticate'] = 'Bearer'
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}

/** Range of a partial download. */
const Part = z.object({ from: z.int(), total: z.int() })

/**
 * The response of a route that does not return JSON. In a stream, each part is made after the client has read the one
 * before.
 */
function downloadResponse({ media }: Route, result: unknown): Response | Promise<Response> {
  const streamed = DownloadStream.safeParse(result)
  if (streamed.success) {
    const { parts, ...named } = streamed.data
    return new Response(streamOf(counted(parts, COPIES)), { headers: headersOf(named) })
  }
  const { content, encoding, ...named } = Download.parse(result)
  const headers = headersOf(named)
  if (media?.inParts !== true) return answerOfText([content], encoding, { headers })
  const { from, total } = Part.parse(result)
  const length = Buffer.byteLength(content, encoding)
  const isWhole = length === total
  return answerOfText([content], encoding, {
    status: isWhole ? 200 : 206,
    headers: {
      ...headers,
      'Accept-Ranges': 'bytes',
      ...(isWhole ? {} : { 'Content-Range': `bytes ${from}-${from + length - 1}/${total}` }),
    },
  })
}

/** Headers that keep a browser from rendering the content. */
function headersOf({ contentType, fileName }: { contentType: string; fileName: string }) {
  return {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  }
}

/** Memory that a part leaves behind, as a multiple of its size: the database's answer, its texts, and their JSON. */
const COPIES = 3
