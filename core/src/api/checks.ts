import { z } from 'zod'
import { type InputIssue, inDocumentOrder, onePerPart } from '../engine/issues.ts'
import type { KeyScope } from '../engine/words/index.ts'
import { type AccessDeclaration, admit, scopeOf } from './access.ts'
import type { Context } from './context.ts'
import type { Finds, PathIds, RouteContract } from './contract.ts'
import { DomainError, validationFailed } from './errors.ts'
import { issuesOf, nulIssues } from './issues.ts'

export interface Checks<Shape extends z.core.$ZodLooseShape, Found extends object> extends AccessDeclaration {
  readonly input: z.ZodObject<Shape>
  readonly finds?: Finds<Found>
  readonly gate?: (context: Context) => void
  /**
   * Replaces `finds` when the procedure's own statement finds the object in the path, which saves a round trip. It runs
   * only when the input is wrong, so that 404 still comes before 400.
   */
  readonly findsWhenWrong?: Finds<object>
  /**
   * Runs checks that the schema cannot express (stored values, addresses), so that one answer names every wrong part.
   * It gets the members that the schema accepted, each on its own.
   */
  readonly check?: (
    context: Context & Found,
    members: Partial<z.output<z.ZodObject<Shape>>>,
  ) => readonly InputIssue[] | Promise<readonly InputIssue[]>
}

/**
 * Finds the object in the path for calls with unreadable input: access checks and 404 come before the refusal of the
 * input.
 */
export function findsOf(
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
 * Checks the caller's scope, then runs `finds`, `gate` and `check`.
 *
 * @param call the name of the procedure, and the scope that it needs
 * @returns the found objects, to be added to the context; empty if there is nothing to find, because adding costs tRPC
 *   as much as the rest of a short call
 */
export async function passChecks<Shape extends z.core.$ZodLooseShape, Found extends object>(
  declaration: Checks<Shape, Found>,
  { path, least }: { readonly path: string; readonly least: KeyScope },
  ctx: Context,
  raw: unknown,
): Promise<{ ctx?: Found }> {
  const { finds, findsWhenWrong, gate, check, input } = declaration
  if (ctx.isRelay) admitOnRelay(path)
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
    // A member of the wrong type looks absent to the check, which may then wrongly report it as missing.
    const isTrue = ({ path: [first] }: InputIssue) =>
      first === undefined ? wrong.size === 0 : !wrong.has(first)
    const all = inDocumentOrder(onePerPart([...issues, ...evaluated.filter(isTrue), ...unstorable]), raw)
    if (all.length > 0) throw validationFailed(all)
  }
  return finds === undefined ? {} : { ctx: found }
}

/**
 * The members that are valid on their own, and the issues of the rest. A list or an object with some wrong parts is
 * included without these parts, so that the check can evaluate the others. A list then has holes, so that items keep
 * their index.
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

/** The valid items; undefined if anything but items is wrong. */
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

/** The valid members of an object; undefined if anything but members is wrong, or if a wrong member is required. */
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

/**
 * The procedures of a relay: all that `creel listen` needs for its one endpoint, and none that makes the service call
 * another server. A procedure that is not listed here does not exist on a relay.
 */
export const RELAYED: ReadonlySet<string> = new Set([
  'me.get',
  'endpoints.list',
  'endpoints.get',
  'endpoints.stats',
  'endpoints.update',
  'endpoints.remove',
  'requests.list',
  'requests.await',
  'requests.find',
  'requests.get',
  'requests.body',
  'requests.shape',
  'requests.follow',
  'requests.remove',
  'requests.clear',
  'requests.bulkDelete',
  'requests.replay',
  'actions.list',
  'deliveries.list',
  'deliveries.get',
  'deliveries.report',
  'conditions.try',
  'verification.try',
  'providers.list',
  'samples.list',
])

/**
 * Refuses a procedure that a relay does not have.
 *
 * @throws DomainError `forbidden`
 */
function admitOnRelay(procedure: string): void {
  if (RELAYED.has(procedure)) return
  throw new DomainError('forbidden', 'A relay has no such operation: it only captures and shows requests.')
}
