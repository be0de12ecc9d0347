import { initTRPC, type ProcedureType, type TrackedEnvelope } from '@trpc/server'
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { z } from 'zod'
import type { KeyScope } from '../engine/words/index.ts'
import { scopeOf } from './access.ts'
import { type Checks, findsOf, passChecks } from './checks.ts'
import type { Context } from './context.ts'
import type { AgentTool, EventOf, Finds, RouteContract, StreamContract } from './contract.ts'
import { ERRORS, type ErrorCode } from './errors.ts'
import { refusalOf, toProblem, traceIds } from './problem.ts'

type PathParameter<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never

interface Declaration<
  Path extends `/${string}`,
  Shape extends z.core.$ZodLooseShape,
  Output,
  Found extends object,
> extends Omit<RouteContract, 'method' | 'path' | 'input' | 'example' | 'output' | 'finds' | 'tool'>,
    Checks<Shape, Found> {
  readonly input: z.ZodObject<Shape>
  readonly example?: Omit<z.input<z.ZodObject<NoInfer<Shape>>>, PathParameter<Path>>
  readonly output: Output
  readonly tool?: AgentTool<keyof NoInfer<Shape> & string>
  readonly finds?: Finds<Found>
}

interface StreamDeclaration<
  Shape extends z.core.$ZodLooseShape,
  Events extends StreamContract['events'],
  Found extends object,
> extends Omit<StreamContract, 'method' | 'path' | 'input' | 'events' | 'finds'>,
    Checks<Shape, Found> {
  readonly input: z.ZodObject<Shape>
  readonly events: Events
  readonly finds?: Finds<Found>
}

/** Interval of the heartbeat on a quiet stream. */
export const STREAM_PING_MS = 15_000
const STREAM_SILENCE_MS = 40_000

type Status = (typeof ERRORS)[ErrorCode]['status']

/** tRPC's names of statuses. Its links read them, and reopen a stream only after temporary ones. */
export const CODES_OF_TRPC: Readonly<Record<Status, TRPC_ERROR_CODE_KEY>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
}

const t = initTRPC
  .context<Context>()
  .meta<{ contract?: RouteContract; stream?: StreamContract }>()
  .create({
    // Proxies cut silent connections. A client that receives nothing for this long reconnects its stream.
    sse: {
      ping: { enabled: true, intervalMs: STREAM_PING_MS },
      client: { reconnectAfterInactivityMs: STREAM_SILENCE_MS },
    },
    errorFormatter: ({ shape, error, input, ctx }) => {
      const problem = toProblem(error, { traceId: ctx?.traceId ?? traceIds.get(error) ?? '', input })
      const refusal = refusalOf(error, input)
      const code = refusal === null ? error.code : CODES_OF_TRPC[ERRORS[refusal.code].status]
      return {
        ...shape,
        message: problem.detail,
        code: TRPC_ERROR_CODES_BY_KEY[code],
        data: { ...shape.data, code, stack: undefined, httpStatus: problem.status, problem },
      }
    },
  })

export const router = t.router
/** Merges routers into one flat router; their procedures must have different names. */
export const mergeRouters = t.mergeRouters
/** Creates a function that calls the procedures of a router in process. */
export const createCallerFactory = t.createCallerFactory

/** A procedure that runs when the checks of its declaration have passed. */
function checked<Shape extends z.core.$ZodLooseShape, Found extends object = Record<never, never>>(
  declaration: Checks<Shape, Found>,
  meta: { contract?: RouteContract; stream?: StreamContract } = {},
  leastOf = (type: ProcedureType): KeyScope => declaration.scope ?? (type === 'mutation' ? 'write' : 'read'),
) {
  return t.procedure
    .meta(meta)
    .use(async ({ ctx, path, type, batchIndex, getRawInput, next }) => {
      const call = { path, least: leastOf(type) }
      const raw = inputGiven(await getRawInput())
      if (ctx.calls === null) return next<Found>(await passChecks(declaration, call, ctx, raw))
      const own = {
        rawBody: ctx.calls.sent.within([
          ...(ctx.calls.isBatch ? [batchIndex] : []),
          ...(meta.contract?.body === undefined ? [] : [meta.contract.body]),
        ]),
      }
      const found = await passChecks(declaration, call, { ...ctx, ...own }, raw)
      return next<Found>({ ctx: Object.assign(own, found.ctx) })
    })
    .input(inputParser(declaration.input))
}

/**
 * Declares routes of a method, each once: `get('/api/v1/things/{thingId}', { summary, input, output, … })` is the tRPC
 * procedure and its REST contract. Every `{parameter}` of the path must be a member of `input`, or the declaration does
 * not compile. Checks run in this order: scope, `finds`, `gate`, input.
 */
function declares(method: RouteContract['method']) {
  return <
    const Path extends `/${string}`,
    Shape extends z.core.$ZodLooseShape & Record<PathParameter<Path>, z.ZodType>,
    Output extends z.ZodType,
    Found extends object = Record<never, never>,
  >(
    path: Path,
    declaration: Declaration<Path, Shape, Output, Found>,
  ) => {
    const whole = { ...declaration, method, path }
    const contract: RouteContract = { ...whole, finds: findsOf(whole) }
    return checked(declaration, { contract }, () => scopeOf(whole)).output(inOneTurn(declaration.output))
  }
}

export const get = declares('GET')
export const post = declares('POST')
export const put = declares('PUT')
export const patch = declares('PATCH')
export const remove = declares('DELETE')

/**
 * The schema without its asynchronous parser, which tRPC would prefer. Zod compiles only the synchronous one, which
 * parses a page of a list in a fifth of the time. All our schemas are synchronous.
 */
function inOneTurn<Schema extends z.ZodType>(schema: Schema): Schema {
  return Object.create(schema, { parseAsync: { value: undefined } })
}

/** Typed callers may omit the whole input if no member is required. */
function inputGiven(raw: unknown): unknown {
  return raw === undefined ? {} : raw
}

/** tRPC's view of a procedure's input: `undefined` is an input without members. */
interface InputParser<Schema extends z.ZodType> {
  readonly _input: Record<never, never> extends z.input<Schema>
    ? z.input<Schema> | undefined
    : z.input<Schema>
  readonly _output: z.output<Schema>
}

function inputParser<Schema extends z.ZodType>(schema: Schema): InputParser<Schema> {
  const parse = (raw: unknown) => schema.parse(inputGiven(raw))
  return Object.create(schema, { parse: { value: parse }, parseAsync: { value: undefined } })
}

/**
 * Declares a stream once: the tRPC subscription and its REST contract (`text/event-stream`). Its checks are those of a
 * route, in the same order, and finish before the stream begins. The resolver yields `tracked` events, each an {@link
 * EventOf} the declared ones, or it does not compile. Clients resume by the events' ids.
 */
export function stream<
  const Path extends `/${string}`,
  Shape extends z.core.$ZodLooseShape & Record<PathParameter<Path>, z.ZodType>,
  Events extends StreamContract['events'],
  Found extends object = Record<never, never>,
>(path: Path, declaration: StreamDeclaration<Shape, Events, Found>) {
  const whole = { ...declaration, method: 'GET', path } as const
  const contract: StreamContract = { ...whole, finds: findsOf(whole) }
  return checked(declaration, { stream: contract }, () => scopeOf(whole)).output(
    inOneTurn(eventsOf<Events>()),
  )
}

/**
 * Restricts a resolver to the declared events, by its type. Events are not parsed again: resolvers parse the rows that
 * they send.
 */
function eventsOf<Events extends StreamContract['events']>() {
  return z.custom<AsyncIterable<TrackedEnvelope<EventOf<Events>>, void>>(
    (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
  )
}

/**
 * Declares a procedure for typed callers only: the console uses it, and it is not part of the REST API. Its checks are
 * those of a route, in the same order.
 */
export function typedOnly<
  Shape extends z.core.$ZodLooseShape,
  Output extends z.ZodType,
  Found extends object = Record<never, never>,
>(declaration: Checks<Shape, Found> & { readonly output: Output }) {
  return checked(declaration).output(inOneTurn(declaration.output))
}

/**
 * Declares a stream for typed callers only: a tRPC subscription. Its checks are those of a route, in the same order,
 * and finish before the stream begins.
 */
export function typedStream<Shape extends z.core.$ZodLooseShape, Found extends object = Record<never, never>>(
  declaration: Checks<Shape, Found>,
) {
  return checked(declaration)
}
