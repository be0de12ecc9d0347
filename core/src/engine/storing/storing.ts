import { type DeliveryFacts, looksOf } from '../conditions/index.ts'
import {
  type ByHeaderName,
  contentTypeIn,
  type EvaluatedRequest,
  isNamed,
  lookedAtBytesMax,
  type WireHeader,
} from '../message/index.ts'
import {
  machineStopwatch,
  type RuleReport,
  type RunInput,
  type RunResult,
  type RunRule,
  runRules,
  runRulesInSteps,
} from '../rules/execution/index.ts'
import type { CompiledStep, Rule } from '../rules/index.ts'

/** Data that an endpoint takes out of its captures before they are stored. */
export interface Storing {
  readonly rules: readonly Rule[]
  /** Paths of headers that are dropped. */
  readonly dropped: ByHeaderName<string>
  /** Keyed digest of a text; null without the key of the workspace: then a step that needs it faults. */
  readonly hash: ((text: string) => string) | null
}

/** Record of the data that was taken out of a request. */
export interface Redaction {
  /** As the rules write them: `body.data.email`, `headers.authorization`. Never values. */
  readonly paths: readonly string[]
  /** Names the rule that faulted. Then only a trace is stored. */
  readonly fault: string | null
  /** Set if the original is kept for the deliveries. */
  readonly original?: true
}

/** A request as it is stored; `redaction` is null if nothing was taken out. */
export interface StoredForm {
  readonly request: EvaluatedRequest
  readonly redaction: Redaction | null
}

export type Derived = Pick<EvaluatedRequest, 'label' | 'eventId'>

/** The keyed digest of a workspace: equal texts have equal digests, which only a holder of the key can make. */
export function hashWith(key: Uint8Array): (text: string) => string {
  // A third of the time of `createHmac`, because the key is prepared once: captures wait for it.
  const keyed = new Bun.CryptoHasher('sha256', key)
  return (text) => keyed.copy().update(text).digest('hex')
}

/** Rules for storing read nothing of a delivery: there is none yet. */
const NO_FACTS: DeliveryFacts = {
  'request.id': 0,
  'request.url': '',
  'request.receivedAt': '',
  'endpoint.id': '',
  'endpoint.name': '',
  'action.id': '',
  'action.name': '',
}

type Derive = (request: EvaluatedRequest) => Derived

/**
 * Applies the rules for storing, then drops headers. Label and event id may repeat a value that was taken out: the label
 * becomes that of the stored request, and an event id that the stored request does not show its digest. Fails closed: if
 * a rule faults, the result is a trace without body, query and label. Never throws.
 *
 * @param derive reads label and event id of a request
 */
export function storedForm(storing: Storing, request: EvaluatedRequest, derive: Derive): StoredForm {
  const { rules, input } = runOf(storing, request)
  const first = runRules(rules, input)
  return formOf(storing, request, isTooSlow(first) ? runRules(rules, input) : first, derive)
}

/** {@link storedForm} in pieces: the generator yields between steps of the rules. */
export function* storedFormInSteps(
  storing: Storing,
  request: EvaluatedRequest,
  derive: Derive,
): Generator<void, StoredForm> {
  const { rules, input } = runOf(storing, request)
  const first = yield* runRulesInSteps(rules, input)
  return formOf(storing, request, isTooSlow(first) ? yield* runRulesInSteps(rules, input) : first, derive)
}

const noSecret = () => null

/** Bytes times values that rules look up: less takes a few milliseconds at most, and reading the time is saved. */
const LIGHT_UNITS_MAX = 64 * 1024
const NO_TIME = { worked: () => 0 }

/** Made once for an endpoint. */
const known = new WeakMap<Storing, { readonly rules: readonly RunRule[]; readonly looks: number }>()

function runOf(
  storing: Storing,
  request: EvaluatedRequest,
): { readonly rules: readonly RunRule[]; readonly input: RunInput } {
  const { rules, looks } = known.getOrInsertComputed(storing, () => ({
    rules: storing.rules.map((rule) => ({ key: '', rule })),
    looks: looksOfStoring(storing),
  }))
  const isLight = lookedAtBytesMax(request) * (1 + looks) <= LIGHT_UNITS_MAX
  const stopwatch = isLight ? NO_TIME : machineStopwatch
  const { hash } = storing
  const now = request.receivedAt
  const input = { request, facts: NO_FACTS, now, secret: noSecret, hash, isForStoring: true, stopwatch }
  return { rules, input }
}

/** Other work of the process counts in its processor time: a trace loses the body, so time is given once more. */
function isTooSlow({ output, rules }: RunResult): boolean {
  return output === null && rules.some(({ fault }) => fault?.code === 'too_slow')
}

function formOf(storing: Storing, request: EvaluatedRequest, result: RunResult, derive: Derive): StoredForm {
  const { output } = result
  if (output === null) return failedClosed(storing, request, faultIn(storing, result))
  const paths = new Set<string>()
  for (const [index, { steps }] of storing.rules.entries()) addPaths(paths, steps, result.rules[index])
  const headers = withoutDropped(storing, output.headers, paths)
  if (paths.size === 0) return { request, redaction: null }
  const { body, path, queryString, ip } = output
  const contentType = contentTypeOf(headers, request)
  const left = { ...request, headers, body, path, queryString, ip, contentType }
  const { label, eventId } = derive(left)
  left.label = label
  left.eventId = eventId === request.eventId ? eventId : digestOf(storing, request.eventId)
  return { request: left, redaction: { paths: [...paths], fault: null } }
}

function faultIn({ rules }: Storing, { rules: reports }: RunResult): string {
  const at = reports.findIndex(({ fault }) => fault !== null)
  const name = rules[at]?.name
  const { code = 'type', stepIndex = 0 } = reports[at]?.fault ?? {}
  return `${name ? `rule '${name}'` : `rule ${at + 1}`} faulted at step ${stepIndex + 1}: ${code}`
}

/** The type of a request whose headers were changed; an imported one may have a type without a header. */
function contentTypeOf(headers: readonly WireHeader[], request: EvaluatedRequest): string | null {
  const typeIn = (lines: readonly WireHeader[]) => lines.find(([name]) => isNamed(name, 'content-type'))
  if (headers === request.headers) return request.contentType
  const line = typeIn(request.headers)
  if (line === undefined) return request.contentType
  return (headers.includes(line) ? line : typeIn(headers))?.[1] ?? null
}

/** The digest of a value that was read from a request and may not be stored itself; null without the key. */
export function digestOf({ hash }: Storing, value: string | null): string | null {
  return value === null || hash === null ? null : hash(value)
}

/** The trace of a request that could not be taken apart as its rules demand. Nothing but the trace may be stored. */
export function failedClosed(storing: Storing, request: EvaluatedRequest, fault: string): StoredForm {
  const named = namedBy(storing)
  const also = ['path', 'ip'].filter((path) => named.has(path))
  return { request: traceOf(storing, named, request), redaction: { paths: [...TRACE_PATHS, ...also], fault } }
}

/** Every trace lacks these. It has `path` and `ip` unless a rule names them. */
const TRACE_PATHS = ['body', 'query', 'headers']

function addPaths(paths: Set<string>, steps: readonly CompiledStep[], report: RuleReport | undefined): void {
  for (const { index, changed, found } of report?.steps ?? []) {
    const step = steps[index]
    if (changed && step !== undefined) for (const path of changedBy(step, found ?? [])) paths.add(path)
  }
}

/** The paths that a step has changed. A `keep` step takes out what it does not name, so it names the whole. */
function changedBy(step: CompiledStep, found: readonly string[]): readonly string[] {
  if (step.op === 'keep') return step.targets.map(({ root, text }) => (root === 'part' ? text : root))
  if ('targets' in step) return found.length > 0 ? found : step.targets.map(({ text }) => text)
  return 'target' in step ? [step.target.text] : []
}

/** Drops headers, and adds their paths. */
function withoutDropped(
  { dropped }: Storing,
  headers: readonly WireHeader[],
  paths: Set<string>,
): readonly WireHeader[] {
  if (dropped.size === 0) return headers
  return headers.filter(([field]) => {
    const path = dropped.get(field)
    if (path !== undefined) paths.add(path)
    return path === undefined
  })
}

/** Headers that a trace keeps, unless a rule names them. */
const TRACE_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-length'])

function traceOf(storing: Storing, named: ReadonlySet<string>, request: EvaluatedRequest): EvaluatedRequest {
  const headers = request.headers.filter(([field]) => {
    const name = field.toLowerCase()
    return TRACE_HEADERS.has(name) && !named.has(`headers.${name}`)
  })
  return {
    ...request,
    headers,
    contentType: contentTypeIn(headers) ?? null,
    path: named.has('path') ? '' : request.path,
    ip: named.has('ip') ? null : request.ip,
    queryString: null,
    body: new Uint8Array(),
    // Like an oversize trace, it is never sent: it is not what its sender sent.
    bodyTruncated: true,
    label: null,
    eventId: digestOf(storing, request.eventId),
  }
}

/** Targets of all steps and the dropped headers, as paths in which names of headers are in lower case. */
function namedBy({ rules, dropped }: Storing): ReadonlySet<string> {
  const targets = rules.flatMap(({ steps }) =>
    steps.flatMap((step) => {
      if ('targets' in step) return step.targets
      return 'target' in step ? [step.target] : []
    }),
  )
  return new Set([
    ...targets.map((target) =>
      target.root === 'headers' ? `headers.${target.name.toLowerCase()}` : target.text,
    ),
    ...[...dropped.names()].map((name) => `headers.${name}`),
  ])
}

/** Values that the rules look up in a capture: the cost of applying them, in comparisons. */
export function looksOfStoring(storing: Storing | null): number {
  if (storing === null) return 0
  return storing.rules.reduce(
    (sum, { when, steps }) =>
      sum +
      looksOf(when) +
      steps.reduce((all, step) => all + ('targets' in step ? step.targets.length : 1), 0),
    0,
  )
}

/** The address of a sender, for logs and traces of refused captures; null if it is taken out. */
export function shownAddress(storing: Storing | null, address: string | null): string | null {
  return storing !== null && namedBy(storing).has('ip') ? null : address
}
