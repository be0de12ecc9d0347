import { createHmac } from 'node:crypto'
import { type DeliveryFacts, looksOf } from '../conditions/index.ts'
import { type EvaluatedRequest, isNamed, type WireHeader } from '../message/index.ts'
import { type RuleReport, runRules } from '../rules/execution/index.ts'
import type { CompiledStep, Rule } from '../rules/index.ts'

/** Data that an endpoint takes out of its captures before they are stored. */
export interface Storing {
  readonly rules: readonly Rule[]
  /** Names of headers, in lower case. */
  readonly dropped: ReadonlySet<string>
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
  return (text) => createHmac('sha256', key).update(text).digest('hex')
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

/**
 * Applies the rules for storing, then drops headers. Label and event id may repeat a value that was taken out: the label
 * becomes that of the stored request, and an event id that the stored request does not show its digest. Fails closed: if
 * a rule faults, the result is a trace without body, query and label. Never throws.
 *
 * @param derive reads label and event id of a request
 */
export function storedForm(
  storing: Storing,
  request: EvaluatedRequest,
  derive: (request: EvaluatedRequest) => Derived,
): StoredForm {
  const shaped = ruled(storing, request)
  if ('fault' in shaped) return { request: traceOf(storing, request), redaction: shaped }
  const { headers, droppedPaths } = withoutDropped(storing, shaped.request.headers)
  const paths = [...new Set([...shaped.paths, ...droppedPaths])]
  if (paths.length === 0) return { request, redaction: null }
  const hadType = request.headers.some(([name]) => isNamed(name, 'content-type'))
  const type = headers.find(([name]) => isNamed(name, 'content-type'))?.[1] ?? null
  const left = { ...shaped.request, headers, contentType: hadType ? type : request.contentType }
  const { label, eventId } = derive(left)
  const storedId = eventId === request.eventId ? eventId : digestOf(storing, request.eventId)
  return { request: { ...left, label, eventId: storedId }, redaction: { paths, fault: null } }
}

/** The digest of a value that was read from a request and may not be stored itself; null without the key. */
export function digestOf({ hash }: Storing, value: string | null): string | null {
  return value === null || hash === null ? null : hash(value)
}

/** The trace of a request that could not be taken apart as its rules demand. Nothing but the trace may be stored. */
export function failedClosed(storing: Storing, request: EvaluatedRequest, fault: string): StoredForm {
  return { request: traceOf(storing, request), redaction: { paths: TRACE_PATHS, fault } }
}

const TRACE_PATHS = ['body', 'query', 'headers']

function ruled(
  storing: Storing,
  request: EvaluatedRequest,
):
  | (Redaction & { readonly fault: string })
  | { readonly request: EvaluatedRequest; readonly paths: string[] } {
  const { rules, hash } = storing
  if (rules.length === 0) return { request, paths: [] }
  const run = () =>
    runRules(
      rules.map((rule, index) => ({ key: String(index), rule })),
      { request, facts: NO_FACTS, now: request.receivedAt, secret: () => null, hash, isForStoring: true },
    )
  let result = run()
  // Other work of the process counts in its processor time: a trace loses the body, so time is given once more.
  if (result.rules.some(({ fault }) => fault?.code === 'too_slow')) result = run()
  const { output, rules: reports } = result
  if (output === null) {
    const at = reports.findIndex(({ fault }) => fault !== null)
    const name = rules[at]?.name
    const { code = 'type', stepIndex = 0 } = reports[at]?.fault ?? {}
    const rule = name ? `rule '${name}'` : `rule ${at + 1}`
    return { paths: TRACE_PATHS, fault: `${rule} faulted at step ${stepIndex + 1}: ${code}` }
  }
  const { headers, body, path, queryString, ip } = output
  const paths = rules.flatMap((rule, index) => pathsOf(rule, reports[index]))
  return { request: { ...request, headers, body, path, queryString, ip }, paths }
}

function pathsOf({ steps }: Rule, report: RuleReport | undefined): string[] {
  return (report?.steps ?? []).flatMap(({ index, changed, found }) => {
    const step = steps[index]
    return changed && step !== undefined ? changedBy(step, found ?? []) : []
  })
}

/** The paths that a step has changed. A `keep` step takes out what it does not name, so it names the whole. */
function changedBy(step: CompiledStep, found: readonly string[]): readonly string[] {
  if (step.op === 'keep') return step.targets.map(({ root, text }) => (root === 'part' ? text : root))
  if ('targets' in step) return found.length > 0 ? found : step.targets.map(({ text }) => text)
  return 'target' in step ? [step.target.text] : []
}

function withoutDropped({ dropped }: Storing, headers: readonly WireHeader[]) {
  if (dropped.size === 0) return { headers, droppedPaths: [] }
  const left: WireHeader[] = []
  const droppedPaths: string[] = []
  for (const header of headers) {
    const name = header[0].toLowerCase()
    if (dropped.has(name)) droppedPaths.push(`headers.${name}`)
    else left.push(header)
  }
  return { headers: left, droppedPaths }
}

/** Headers that a trace keeps, unless a rule names them. */
const TRACE_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-length'])

function traceOf(storing: Storing, request: EvaluatedRequest): EvaluatedRequest {
  const named = namedBy(storing)
  const headers = request.headers.filter(([field]) => {
    const name = field.toLowerCase()
    return TRACE_HEADERS.has(name) && !named.has(`headers.${name}`)
  })
  const [, contentType = null] = headers.find(([name]) => isNamed(name, 'content-type')) ?? []
  return {
    ...request,
    headers,
    contentType,
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
    ...[...dropped].map((name) => `headers.${name}`),
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

/** Whether the address of a sender is taken out. Then no trace of a refused capture may name it. */
export function hidesAddress(storing: Storing): boolean {
  return namedBy(storing).has('ip')
}
