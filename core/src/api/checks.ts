import { z } from 'zod'
import { type InputIssue, inDocumentOrder, onePerPart, valueAt } from '../engine/issues.ts'
import type { KeyScope } from '../engine/words/index.ts'
import { type AccessDeclaration, admit, scopeOf } from './access.ts'
import type { Context } from './context.ts'
import type { Finds, PathIds, RouteContract } from './contract.ts'
import { DomainError, validationFailed } from './errors.ts'
import { issuesOf, nulIssues, widthIssues } from './issues.ts'

/**
 * An input as far as it is valid: of an object, also in a list, each member that is valid on its own. A wrong member is
 * absent, and a wrong item is a hole, so that items keep their index.
 */
export type Accepted<Value> = Value extends readonly (infer Item)[]
  ? Accepted<Item>[]
  : Value extends Date
    ? Value
    : Value extends object
      ? string extends keyof Value
        ? Value
        : { [Name in keyof Value]?: Accepted<Value[Name]> }
      : Value

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
   * It gets what the schema accepted.
   */
  readonly check?: (
    context: Context & Found,
    members: Accepted<z.output<z.ZodObject<Shape>>>,
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
  const tooWide = widthIssues(raw)
  const unstorable = nulIssues(raw).filter(({ path }) => String(path[0]) in input.shape)
  const isWrong = () => tooWide.length > 0 || unstorable.length > 0 || !input.safeParse(raw).success
  if (findsWhenWrong !== undefined && isWrong()) await findsWhenWrong(ctx, pathIds(raw))
  gate?.(ctx)
  if (tooWide.length > 0) throw validationFailed(tooWide)
  if (check !== undefined || unstorable.length > 0) {
    const issues = issuesOf(input.safeParse(raw).error, raw)
    const wrong = new Set<string>()
    const given = typeof raw === 'object' && raw !== null ? raw : {}
    const right = rightPart(input, given, issues, { path: [], wrong })
    // Each value was parsed by its own member's schema, which a map of names cannot express.
    const accepted = right as Accepted<z.output<z.ZodObject<Shape>>>
    const evaluated = (await check?.({ ...ctx, ...found }, accepted)) ?? []
    // A wrong part looks absent to the check, which may then wrongly report it as missing.
    const isTrue = ({ path }: InputIssue) =>
      path.length === 0 ? wrong.size === 0 : !path.some((_, at) => wrong.has(pathText(path.slice(0, at + 1))))
    const all = inDocumentOrder(onePerPart([...issues, ...evaluated.filter(isTrue), ...unstorable]), raw)
    if (all.length > 0) throw validationFailed(all)
  }
  return finds === undefined ? {} : { ctx: found }
}

interface Place {
  readonly path: InputIssue['path']
  /** Gets the paths of the parts that are left out. */
  readonly wrong: Set<string>
}

const pathText = (path: InputIssue['path']): string => JSON.stringify(path)

/** A part without what is wrong in it; undefined if nothing is left. */
function rightPart(
  schema: z.core.$ZodType,
  value: unknown,
  issues: readonly InputIssue[],
  { path, wrong }: Place,
): unknown {
  const form = withoutWrappers(schema)
  const inner = Map.groupBy(issues, (issue) => issue.path[path.length])
  const part = (of: z.core.$ZodType, name: string | number) =>
    rightPart(of, valueAt(value, [name]), inner.get(name) ?? [], { path: [...path, name], wrong })
  if (form instanceof z.ZodObject && typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(form.shape).flatMap(([name, member]): [string, unknown][] => {
        const right = part(member, name)
        return right === undefined && inner.has(name) ? [] : [[name, right]]
      }),
    )
  if (issues.length === 0) return z.safeParse(schema, value).data
  const right = inner.has(undefined) ? undefined : rightOfMany(schema, form, value, inner, part)
  if (right === undefined) wrong.add(pathText(path))
  return right
}

/** The right items of a list, or entries of a map. */
function rightOfMany(
  schema: z.core.$ZodType,
  form: z.core.$ZodType,
  value: unknown,
  inner: ReadonlyMap<string | number | undefined, unknown>,
  part: (of: z.core.$ZodType, name: string | number) => unknown,
): unknown {
  if (form instanceof z.ZodArray && Array.isArray(value)) {
    const items: unknown[] = []
    // A list whose last items are wrong is as long as it was given.
    items.length = value.length
    for (const index of value.keys()) {
      const item = part(form.element, index)
      if (item !== undefined) items[index] = item
    }
    return items
  }
  if (typeof value !== 'object' || value === null) return undefined
  const others = Object.entries(value).filter(([name]) => !inner.has(name))
  return z.safeParse(schema, Object.fromEntries(others)).data
}

function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return withoutWrappers(schema._zod.def.innerType)
  return schema instanceof z.ZodPipe ? withoutWrappers(schema._zod.def.in) : schema
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
