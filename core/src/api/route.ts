import { initTRPC } from '@trpc/server'
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { z } from 'zod'
import { millisecondsOf, parseInstant } from '../engine/conditions/index.ts'
import { type InputIssue, inDocumentOrder, onePerPart } from '../engine/issues.ts'
import { type AccessDeclaration, admit, scopeOf } from './access.ts'
import type { Context, KeyScope } from './context.ts'
import { ERRORS, type ErrorCode, validationFailed } from './errors.ts'
import { issuesOf, nulIssues } from './issues.ts'
import { refusalOf, toProblem, traceIdIn } from './problem.ts'

/** The whole contract of one REST operation: the gateway, OpenAPI, the docs and the contract tests read only this. */
export interface RouteContract extends AccessDeclaration {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{parameters}`, e.g. `/api/v1/endpoints/{endpointId}`. */
  readonly path: `/${string}`
  readonly summary: string
  /** More than the summary says; Markdown, for OpenAPI. */
  readonly description?: string
  /** Path, query and body members as one object. */
  readonly input: z.ZodObject
  /** The answer; `z.null()` answers 204. */
  readonly output: z.ZodType
  /** Codes besides those every route may answer. Answering an undeclared one fails the tests. */
  readonly errors?: readonly ErrorCode[]
  /** Default 200; 202 for queued work. A null result always answers 204. */
  readonly status?: 200 | 201 | 202
  /** Input members read from the query string although the method has a body (replay's `actionId`). */
  readonly query?: readonly string[]
  /** The one input member that is the whole body (a rule document). */
  readonly body?: string
  /** `Cache-Control` of the answer; an ETag is added and `If-None-Match` answered with 304. */
  readonly cacheControl?: string
  /** Media type of the answer when it is not `application/json`. */
  readonly contentType?: string
  /** Set where bodies are not JSON. */
  readonly media?: RouteMedia
  /**
   * Set for a short read that depends on its caller and its input only: calls for the same at the same time are one. These are
   * the input members that it may have; a call with others is made by itself.
   */
  readonly shared?: readonly string[]
  /** Refuses who may not call, and finds the objects that the path names, before anything else of the input is looked at. */
  readonly finds?: Finds<object>
  /** Refuses a plan that lacks the operation, after the 404s and before the 400s. */
  readonly gate?: (context: Context) => void
}

/** The bodies of a route whose bodies are not JSON. */
export interface RouteMedia {
  /** Media type of the request's body, which the procedure reads from `ctx.body` as it comes. */
  readonly takes?: string
  /** Media types of the answer over REST; the route's output is a {@link Download} or a {@link DownloadStream}. */
  readonly gives?: readonly [string, ...string[]]
}

/** An answer that is no JSON: REST sends its content, `/trpc` the whole object. */
export const Download = z.object({
  contentType: z.string(),
  fileName: z.string().meta({ description: 'What it may be saved as' }),
  content: z.string(),
  encoding: z.enum(['utf8', 'base64']).meta({ description: 'How `content` holds the bytes' }),
})

/** An answer of any size that is no JSON: each part is made when the client has read the one before. REST only. */
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
 * Looks up what the path names and hands it on to the procedure's context.
 * @throws DomainError `not_found`, also for ids that are not well-formed
 */
export type Finds<Found extends object> = (context: Context, ids: PathIds) => Promise<Found>

type PathParameter<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never

/** The whole contract of one stream: a GET that answers `text/event-stream` until either side ends it. */
export interface StreamContract
  extends Pick<
    RouteContract,
    'path' | 'summary' | 'description' | 'input' | 'scope' | 'narrows' | 'errors' | 'finds' | 'gate'
  > {
  readonly method: 'GET'
  /** What each event carries, by its name. */
  readonly events: Readonly<Record<string, z.ZodObject>>
}

/** One event over tRPC: what it carries, and which it is. Over REST `kind` is the event's name. */
export type EventOf<Events extends StreamContract['events']> = {
  [Kind in keyof Events]: { readonly kind: Kind } & z.output<Events[Kind]>
}[keyof Events]

/** What is looked at before a procedure runs. */
interface Checks<Shape extends z.core.$ZodLooseShape, Found extends object> extends AccessDeclaration {
  readonly input: z.ZodObject<Shape>
  readonly finds?: Finds<Found>
  readonly gate?: (context: Context) => void
  /**
   * In place of `finds`, where the procedure's own statement finds what the path names, which saves a round trip: runs
   * only when the input is wrong, so that 404 comes before 400 here too.
   */
  readonly findsWhenWrong?: Finds<object>
  /**
   * Evaluates what the schema alone cannot (stored values, addresses), so that one answer names every wrong part.
   * It sees the members that the schema accepted, each on its own.
   */
  readonly check?: (
    context: Context & Found,
    members: Partial<z.output<z.ZodObject<Shape>>>,
  ) => readonly InputIssue[] | Promise<readonly InputIssue[]>
}

interface Declaration<
  Path extends `/${string}`,
  Shape extends z.core.$ZodLooseShape,
  Output,
  Found extends object,
> extends Omit<RouteContract, 'path' | 'input' | 'output' | 'finds'>,
    Checks<Shape, Found> {
  readonly path: Path
  readonly input: z.ZodObject<Shape>
  readonly output: Output
  readonly finds?: Finds<Found>
}

interface StreamDeclaration<
  Path extends `/${string}`,
  Shape extends z.core.$ZodLooseShape,
  Found extends object,
> extends Omit<StreamContract, 'path' | 'input' | 'finds'>,
    Checks<Shape, Found> {
  readonly path: Path
  readonly input: z.ZodObject<Shape>
  readonly finds?: Finds<Found>
}

/** A stream that has nothing to say says so this often. */
export const STREAM_PING_MS = 15_000
const STREAM_SILENCE_MS = 40_000

/** What tRPC calls a status: its links look at it, and open a stream again only after what may pass. */
const CODES_OF_TRPC: Readonly<Record<(typeof ERRORS)[ErrorCode]['status'], TRPC_ERROR_CODE_KEY>> = {
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
    // Proxies cut silent connections, and a client that hears nothing for so long opens its stream anew.
    sse: {
      ping: { enabled: true, intervalMs: STREAM_PING_MS },
      client: { reconnectAfterInactivityMs: STREAM_SILENCE_MS },
    },
    errorFormatter: ({ shape, error, input, ctx }) => {
      const problem = toProblem(error, { traceId: ctx?.traceId ?? traceIdIn(error), input })
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

/** Makes a router of API procedures. */
export const router = t.router
/** Makes one flat router of several; their procedures must have different names. */
export const mergeRouters = t.mergeRouters
/** Makes a function that calls the procedures of a router in process. */
export const createCallerFactory = t.createCallerFactory

/**
 * Declares a route, once: the tRPC procedure and its REST contract. Every `{parameter}` of the path must be a
 * member of `input`, or it does not compile. Checks run in this order: scope, `finds`, `gate`, input.
 */
export function route<
  const Path extends `/${string}`,
  Shape extends z.core.$ZodLooseShape & Record<PathParameter<Path>, z.ZodType>,
  Output extends z.ZodType,
  Found extends object = Record<never, never>,
>(declaration: Declaration<Path, Shape, Output, Found>) {
  const contract: RouteContract = { ...declaration, finds: findsOf(declaration) }
  return t.procedure
    .meta({ contract })
    .use(async ({ ctx, getRawInput, next }) =>
      next<Found>(await passChecks(declaration, scopeOf(declaration), ctx, inputGiven(await getRawInput()))),
    )
    .input(inputParser(declaration.input))
    .output(inOneTurn(declaration.output))
}

/**
 * The schema without its asynchronous side, which tRPC would prefer: zod compiles its parsers for synchronous use only, and
 * a page of a list then takes a fifth of the time. No schema of ours waits for anything.
 */
function inOneTurn<Schema extends z.ZodType>(schema: Schema): Schema {
  return Object.create(schema, { parseAsync: { value: undefined } })
}

/** Typed callers may leave the whole input out where no member is required. */
function inputGiven(raw: unknown): unknown {
  return raw === undefined ? {} : raw
}

/** How tRPC reads the input of a procedure: `undefined` stands for an input without members. */
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
 * Declares a stream, once: the tRPC subscription and its REST contract (`text/event-stream`). Its checks are those of a
 * route, in the same order, and are over before the stream begins. The resolver yields `tracked` events, each
 * an {@link EventOf} the declared ones: their id is what a client resumes with.
 */
export function stream<
  const Path extends `/${string}`,
  Shape extends z.core.$ZodLooseShape & Record<PathParameter<Path>, z.ZodType>,
  Found extends object = Record<never, never>,
>(declaration: StreamDeclaration<Path, Shape, Found>) {
  const contract: StreamContract = { ...declaration, finds: findsOf(declaration) }
  return t.procedure
    .meta({ stream: contract })
    .use(async ({ ctx, getRawInput, next }) =>
      next<Found>(await passChecks(declaration, scopeOf(declaration), ctx, inputGiven(await getRawInput()))),
    )
    .input(inputParser(declaration.input))
}

/**
 * Declares a procedure that only typed callers have: what the console asks, and no promise of the REST surface. Its checks
 * are those of a route, in the same order.
 */
export function typedOnly<
  Shape extends z.core.$ZodLooseShape,
  Output extends z.ZodType,
  Found extends object = Record<never, never>,
>(declaration: Checks<Shape, Found> & { readonly output: Output }) {
  return t.procedure
    .use(async ({ ctx, type, getRawInput, next }) => {
      const least = declaration.scope ?? (type === 'mutation' ? 'write' : 'read')
      return next<Found>(await passChecks(declaration, least, ctx, inputGiven(await getRawInput())))
    })
    .input(inputParser(declaration.input))
    .output(inOneTurn(declaration.output))
}

/**
 * Declares a stream that only typed callers have: a tRPC subscription. Its checks are those of a route, in the same order, and
 * are over before the stream begins.
 */
export function typedStream<Shape extends z.core.$ZodLooseShape, Found extends object = Record<never, never>>(
  declaration: Checks<Shape, Found>,
) {
  return t.procedure
    .use(async ({ ctx, getRawInput, next }) =>
      next<Found>(
        await passChecks(declaration, declaration.scope ?? 'read', ctx, inputGiven(await getRawInput())),
      ),
    )
    .input(inputParser(declaration.input))
}

/** For calls whose input cannot be read: who may call, and what the path names, come before it. */
function findsOf(
  declaration: Pick<RouteContract, 'method' | 'input' | 'scope' | 'narrows' | 'finds'> & {
    readonly findsWhenWrong?: Finds<object>
  },
): Finds<object> {
  const { finds, findsWhenWrong } = declaration
  return async (ctx, ids) => {
    admit(ctx, { least: scopeOf(declaration), declaration, named: ids.endpointId })
    return (await (findsWhenWrong ?? finds)?.(ctx, ids)) ?? {}
  }
}

/**
 * Looks at the caller's scope, then runs `finds`, `gate` and `check`.
 *
 * @returns what was found, to be added to the context; nothing where nothing is looked for, because adding costs tRPC as much
 *   as the rest of a short call
 */
async function passChecks<Shape extends z.core.$ZodLooseShape, Found extends object>(
  declaration: Checks<Shape, Found>,
  least: KeyScope,
  ctx: Context,
  raw: unknown,
): Promise<{ ctx?: Found }> {
  const { finds, findsWhenWrong, gate, check, input } = declaration
  admit(ctx, { least, declaration, named: pathIds(raw).endpointId })
  // Without `finds`, Found is the empty default: nothing to add to the context.
  const found = finds === undefined ? ({} as Found) : await finds(ctx, pathIds(raw))
  const unstorable = nulIssues(raw).filter(({ path }) => String(path[0]) in input.shape)
  const isWrong = () => unstorable.length > 0 || !input.safeParse(raw).success
  if (findsWhenWrong !== undefined && isWrong()) await findsWhenWrong(ctx, pathIds(raw))
  gate?.(ctx)
  if (check !== undefined || unstorable.length > 0) {
    const { accepted, wrong, issues } = acceptedMembers(input, raw)
    const evaluated = (await check?.({ ...ctx, ...found }, accepted)) ?? []
    // A member of the wrong type looks absent to the check, which may then miss it in the whole.
    const isTrue = ({ path: [first] }: InputIssue) =>
      first === undefined ? wrong.size === 0 : !wrong.has(first)
    const all = inDocumentOrder(onePerPart([...issues, ...evaluated.filter(isTrue), ...unstorable]), raw)
    if (all.length > 0) throw validationFailed(all)
  }
  return finds === undefined ? {} : { ctx: found }
}

/**
 * The members that pass on their own, and what is wrong with the rest. A list or an object of which some parts are wrong
 * is there too, without them: the check evaluates the others. A list has holes in their places, so that each keeps its index.
 */
function acceptedMembers<Shape extends z.core.$ZodLooseShape>(input: z.ZodObject<Shape>, raw: unknown) {
  const issues = issuesOf(input.safeParse(raw).error, raw)
  const members =
    typeof raw === 'object' && raw !== null ? new Map(Object.entries(raw)) : new Map<string, unknown>()
  const wrong = new Set<string | number | undefined>()
  const parsed = Object.entries(input.shape).flatMap(([name, schema]): [string, unknown][] => {
    const own = issues.filter(({ path }) => path[0] === name)
    if (own.length === 0) return [[name, z.safeParse(schema, members.get(name)).data]]
    const value = members.get(name)
    const right = Array.isArray(value) ? rightItems(schema, value, own) : rightParts(schema, value, own)
    if (right === undefined) wrong.add(name)
    return right === undefined ? [] : [[name, right]]
  })
  // Each value was parsed by its own member's schema, which a map of names cannot express.
  const accepted = Object.fromEntries(parsed) as Partial<z.output<z.ZodObject<Shape>>>
  return { accepted, wrong, issues, raw }
}

/** Undefined unless nothing but items is wrong. */
function rightItems(
  schema: z.core.$ZodType,
  value: readonly unknown[],
  issues: readonly InputIssue[],
): unknown[] | undefined {
  const wrongItems = new Set(issues.map(({ path }) => path[1]))
  if (wrongItems.has(undefined)) return undefined
  const indexes = [...value.keys()].filter((index) => !wrongItems.has(index))
  const { data } = z.safeParse(
    schema,
    indexes.map((index) => value[index]),
  )
  if (!Array.isArray(data)) return undefined
  const list: unknown[] = []
  for (const [at, index] of indexes.entries()) list[index] = data[at]
  return list
}

/** Undefined unless the value is an object in which nothing but members is wrong, and which may lack those. */
function rightParts(schema: z.core.$ZodType, value: unknown, issues: readonly InputIssue[]): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const wrongNames = new Set(issues.map(({ path }) => path[1]))
  return z.safeParse(
    schema,
    Object.fromEntries(Object.entries(value).filter(([name]) => !wrongNames.has(name))),
  ).data
}

function pathIds(input: unknown): PathIds {
  if (typeof input !== 'object' || input === null) return {}
  const isId = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (isId(value) ? [[name, String(value)]] : [])),
  )
}

/** A member that may be left out; `null` means the same. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** A timestamp in answers: ISO 8601, milliseconds, `Z`. */
export const Timestamp = z
  .date()
  .transform((date) => date.toISOString())
  .pipe(z.iso.datetime({ precision: 3 }))

/** An object in answers whose names strangers chose, `__proto__` among them: zod's own record leaves that one out. */
export function byName<Value extends z.ZodType>(value: Value) {
  const record = z.record(z.string(), value)
  const { $schema: _dialect, ...described } = z.toJSONSchema(record)
  return z.custom<z.output<typeof record>>((input) => record.safeParse(input).success).meta(described)
}

/** A moment in a query: RFC 3339, a date alone (midnight UTC), or minutes without seconds; as a Date of whole ms, rounded up. */
export const InstantInput = z
  .string()
  .max(64)
  .transform((text, context) => {
    const instant = parseInstant(text)
    const date = instant === undefined ? undefined : new Date(millisecondsOf(instant))
    // Before the first year begins a period that would end in it; after the last no answer could show it.
    if (date !== undefined && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999) return date
    context.addIssue({
      code: 'custom',
      params: { code: 'bad_format' },
      message:
        'A timestamp of the years 1 to 9999 is needed, like 2026-11-21T09:15:00Z, 2026-11-21T09:15Z or 2026-11-21.',
    })
    return z.NEVER
  })

/** Marks an input member that is known only to be refused; the description of the API leaves it out. */
export const REFUSED = 'x-refused'

/**
 * An int64 that ids are compared with: 0 to 2^63-1. Our ids stay below 2^53, so a greater one stands for the greatest.
 * As JSON numbers go, 2^63 cannot be told from 2^63-1.
 */
export const Int64Filter = z
  .number()
  .min(0)
  .refine(Number.isInteger, { params: { code: 'type' }, message: 'An integer is needed.', abort: true })
  .refine((id) => id <= 2 ** 63, { params: { code: 'out_of_range' }, message: 'At most 2^63-1 is an int64.' })
  .meta({ type: 'integer', format: 'int64' })
  .transform((id) => Math.min(id, Number.MAX_SAFE_INTEGER))

/** An int64 id: a JSON number below 2^53. */
export const Int64 = z.int().min(0)
