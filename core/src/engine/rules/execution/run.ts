import { type Condition, type DeliveryFacts, holds, mayHold } from '../../conditions/index.ts'
import type { EvaluatedRequest, WireHeader } from '../../message/index.ts'
import { uuidV5 } from '../../uuidV5.ts'
import type { CallFacts } from '../functions/index.ts'
import { Fault, type FaultCode } from '../language/fault.ts'
import { type CompiledStep, opsTakingOut, type Rule } from '../language/rule.ts'
import type { CallContext } from './compute.ts'
import { Draft } from './draft.ts'
import { Meter, machineStopwatch, type Stopwatch } from './meter.ts'
import { runStep } from './steps.ts'
import { foundBy, unmatchedNote, unmatchedWhen } from './unmatched.ts'

export interface RunInput {
  /** As captured; never an oversize trace. */
  readonly request: EvaluatedRequest
  readonly facts: DeliveryFacts
  /** Start of the attempt. */
  readonly now: Date
  /** The action's signing secret; null when it has none. */
  readonly secret: () => Uint8Array | null
  /** Keyed digest for `hash` steps, which fault without it. */
  readonly hash?: ((text: string) => string) | null
  /** Whether the reports name conditions and steps that matched nothing; costs a look at every path. */
  readonly explains?: boolean
  /**
   * Whether the rules decide what is stored. Reports then name what steps found, and a condition faults that would hold
   * for some content of a body that cannot be read.
   */
  readonly isForStoring?: boolean
  /** By default the machine's; tests set the time by hand. */
  readonly stopwatch?: Stopwatch
}

/** A rule with its key for `uuid()`: its id, or any text for a rule that is not saved. */
export interface RunRule {
  readonly key: string
  readonly rule: Rule
}

/** Report of one step. `index` is 0-based; `note` is one sentence, or null. */
export interface StepReport {
  readonly index: number
  readonly op: CompiledStep['op']
  readonly changed: boolean
  readonly note: string | null
  /** Targets of a step that takes data out, as written, which found something before it ran. */
  readonly found?: readonly string[]
}

/** Report of a fault. `stepIndex` is 0-based, `detail` never holds a secret. */
export interface FaultReport {
  readonly stepIndex: number
  readonly code: FaultCode
  readonly detail: string
  /**
   * Whether the fault counts towards switching the rule off. If the body is neither JSON nor a form and the rule
   * removes data, it does not count: a sender must not be able to switch such a rule off.
   */
  readonly counted: boolean
}

/** Report of one rule: no steps and no fault when it did not match. */
export interface RuleReport {
  readonly matched: boolean
  /** Names the paths of the condition that find nothing; null if there is none, and unless the run explains. */
  readonly note: string | null
  /** The steps that ran, in the document's order. */
  readonly steps: readonly StepReport[]
  readonly fault: FaultReport | null
}

export interface TransformedRequest {
  readonly headers: readonly WireHeader[]
  /** Names, in lower case, of headers that a step wrote: they are sent even where captured ones would be dropped. */
  readonly writtenHeaders: ReadonlySet<string>
  readonly body: Uint8Array
  readonly contentType: string | null
  readonly path: string
  readonly queryString: string | null
  readonly ip: string | null
}

export interface RunResult {
  /** One report a rule, in their order; those after a fault did not run and report no match. */
  readonly rules: readonly RuleReport[]
  /** Null when a rule faulted; then nothing may be sent. */
  readonly output: TransformedRequest | null
}

/** The namespace of `uuid()`: made once, at random, for this purpose. */
const UUIDS = Buffer.from('6f1c6a0e3b5d4d27a1c58e4f90b7d2c3', 'hex')

interface Progress {
  matched: boolean
  note: string | null
  /** Milliseconds of the rule's time that are left for steps that read the raw body. */
  timeLeft: number
  steps: StepReport[]
  fault: FaultReport | null
}

/** The step that is running, to which a fault is attributed. */
interface Position {
  rule: number
  step: number
}

/**
 * Runs enabled rules top to bottom. Steps that read the raw body run after all others, so that a signature covers the
 * bytes that are sent. Pure, bounded, and never throws: a rule that cannot be carried out is reported as a fault.
 */
export function runRules(rules: readonly RunRule[], input: RunInput): RunResult {
  const meter = new Meter(input.stopwatch ?? machineStopwatch)
  const draft = new Draft(input.request, input.facts, meter)
  const progress = rules.map(
    (): Progress => ({ matched: false, note: null, timeLeft: 0, steps: [], fault: null }),
  )
  const at: Position = { rule: 0, step: 0 }
  let bytes: Uint8Array | undefined
  const raw = () => {
    bytes ??= draft.bytes()
    return bytes
  }
  const perform = (rule: number, { key, rule: { steps } }: RunRule, late: boolean) => {
    for (const [step, compiled] of steps.entries()) {
      if (readsRaw(compiled) !== late) continue
      at.rule = rule
      at.step = step
      const context: CallContext = {
        draft,
        meter,
        facts: callFacts(input, meter, key, step),
        secret: input.secret,
        hash: input.hash ?? null,
        isForStoring: input.isForStoring === true,
        raw,
      }
      const unmatched = input.explains === true ? unmatchedNote(compiled, draft, meter) : null
      const found = input.isForStoring === true ? foundBy(compiled, draft, meter) : undefined
      const changed = runStep(compiled, context)
      const note = late ? 'Runs after all rules, on the bytes to be sent.' : unmatched
      progress[rule]?.steps.push({ index: step, op: compiled.op, changed, note, ...(found && { found }) })
    }
  }
  try {
    for (const [index, each] of rules.entries()) {
      const own = progress[index]
      if (own === undefined) continue
      at.rule = index
      at.step = 0
      meter.startRule()
      if (input.explains === true) own.note = unmatchedWhen(each.rule.when, draft)
      if (!holds(each.rule.when, draft)) {
        if (input.isForStoring === true) checkDecided(each.rule.when, draft)
        continue
      }
      own.matched = true
      perform(index, each, false)
      own.timeLeft = meter.timeLeft()
    }
    const body = raw()
    for (const [index, each] of rules.entries()) {
      const own = progress[index]
      if (own?.matched !== true || !each.rule.steps.some(readsRaw)) continue
      meter.startRule(own.timeLeft)
      perform(index, each, true)
    }
    const { headers, writtenHeaders, contentType, path, queryString, ip } = draft
    const output = { headers, writtenHeaders, body, contentType, path, queryString, ip }
    return { rules: progress.map(inDocumentOrder), output }
  } catch (error) {
    const { code, detail } = faultOf(error)
    const own = progress[at.rule]
    const takesOut = opsTakingOut(rules[at.rule]?.rule ?? { steps: [] }).length > 0
    const counted = draft.isStructured || !takesOut
    if (own !== undefined) own.fault = { stepIndex: at.step, code, detail, counted }
    return { rules: progress.map(inDocumentOrder), output: null }
  }
}

/** @throws Fault `not_structured` for a condition that does not hold, and might if the body could be read */
function checkDecided(when: Condition, draft: Draft): void {
  if (!mayHold(when, draft, (path) => draft.isUnknown(path))) return
  throw new Fault('not_structured', 'The condition reads a body that cannot be read.')
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  // The machine's own limits: a text longer than it can hold, calls nested deeper than it can go.
  if (error instanceof RangeError) return new Fault('too_large', 'The result is too large for memory.')
  throw error
}

function readsRaw(step: CompiledStep): boolean {
  return step.op === 'compute' && step.readsRaw
}

function callFacts({ facts, now }: RunInput, meter: Meter, key: string, step: number): CallFacts {
  return {
    now,
    uuid: () => uuidV5(UUIDS, `${facts['request.id']}/${facts['action.id']}/${key}/${step}`),
    tick: () => meter.tick(),
  }
}

function inDocumentOrder({ matched, note, steps, fault }: Progress): RuleReport {
  return { matched, note, steps: steps.toSorted((left, right) => left.index - right.index), fault }
}
