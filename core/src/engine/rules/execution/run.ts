import { type Condition, type DeliveryFacts, holdsInSteps, mayHoldInSteps } from '../../conditions/index.ts'
import type { EvaluatedRequest, WireHeader } from '../../message/index.ts'
import { uuidV5 } from '../../uuidV5.ts'
import type { CallFacts } from '../functions/index.ts'
import { Fault, type FaultCode } from '../language/fault.ts'
import { type CompiledStep, opsTakingOut, type Rule } from '../language/rule.ts'
import { Draft } from './draft.ts'
import { Meter, machineStopwatch, type Stopwatch } from './meter.ts'
import { runStep } from './steps.ts'
import { unmatchedNote, unmatchedWhen } from './unmatched.ts'

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
  /** Targets of a step for storing that found something, as written; null for other rules. */
  readonly found: readonly string[] | null
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

/**
 * Runs enabled rules top to bottom. Steps that read the raw body run after all others, so that a signature covers the
 * bytes that are sent. Pure, bounded, and never throws: a rule that cannot be carried out is reported as a fault.
 */
export function runRules(rules: readonly RunRule[], input: RunInput): RunResult {
  const run = new RuleRun(rules, input)
  const pieces = run.pieces()
  while (pieces.next().done !== true);
  return run.result
}

/**
 * {@link runRules} in pieces: the generator yields after each step, and within conditions. The time of others does not
 * count.
 */
export function* runRulesInSteps(rules: readonly RunRule[], input: RunInput): Generator<void, RunResult> {
  const run = new RuleRun(rules, input)
  for (const _ of run.pieces()) {
    run.meter.pause()
    yield
    run.meter.resume()
  }
  return run.result
}

class RuleRun {
  readonly meter: Meter
  private readonly draft: Draft
  private readonly progress: Progress[]
  /** The step that is running, to which a fault is attributed. */
  private at = { rule: 0, step: 0 }
  /** The last step that changed the body. */
  private changedBody = { rule: 0, step: 0 }
  private bytes: Uint8Array | undefined
  private output: TransformedRequest | null = null

  constructor(
    private readonly rules: readonly RunRule[],
    private readonly input: RunInput,
  ) {
    this.meter = new Meter(input.stopwatch ?? machineStopwatch)
    this.draft = new Draft(input.request, input.facts, this.meter, input.isForStoring === true)
    this.progress = rules.map(() => ({ matched: false, note: null, timeLeft: 0, steps: [], fault: null }))
  }

  get result(): RunResult {
    return { rules: this.progress, output: this.output }
  }

  /** Runs the rules. Yields after each step and each piece of a condition. Never throws. */
  *pieces(): Generator<void, void> {
    try {
      yield* this.performAll()
    } catch (error) {
      this.fail(faultOf(error))
    }
  }

  private *performAll(): Generator<void, void> {
    for (const [rule, each] of this.rules.entries()) {
      const own = this.progress[rule]
      if (own === undefined) continue
      this.at = { rule, step: 0 }
      this.meter.startRule()
      if (!(yield* this.begin(each, own))) continue
      for (const [step, compiled] of each.rule.steps.entries()) {
        if (readsRaw(compiled)) continue
        this.perform(each, own, { rule, step })
        yield
      }
      own.timeLeft = this.meter.timeLeft()
    }
    this.finish()
  }

  /** Returns whether the condition of a rule holds. */
  private *begin({ rule: { when } }: RunRule, own: Progress): Generator<void, boolean> {
    const { draft, input } = this
    if (input.explains === true) own.note = yield* this.inTime(unmatchedWhen(when, draft))
    own.matched = yield* this.inTime(holdsInSteps(when, draft))
    if (!own.matched && input.isForStoring === true) yield* this.inTime(checkDecided(when, draft))
    return own.matched
  }

  /** Looks at the time after each piece: the sender decides how many values a condition compares. */
  private *inTime<Result>(work: Generator<void, Result>): Generator<void, Result> {
    for (;;) {
      const piece = work.next()
      if (piece.done === true) return piece.value
      this.meter.checkTime()
      yield
    }
  }

  private perform(
    { key, rule: { steps } }: RunRule,
    own: Progress,
    { rule, step: index }: { readonly rule: number; readonly step: number },
  ): void {
    const step = steps[index]
    if (step === undefined) return
    this.at = { rule, step: index }
    const { draft, meter, input } = this
    const before = draft.changes
    const found: string[] | null = input.isForStoring === true ? [] : null
    const note = input.explains === true ? unmatchedNote(step, draft, meter) : null
    const changed = runStep(step, {
      draft,
      meter,
      facts: () => callFacts(input, meter, key, index),
      secret: input.secret,
      hash: input.hash ?? null,
      found,
      raw: this.raw,
    })
    if (draft.changes > before) this.changedBody = this.at
    own.steps.push({ index, op: step.op, changed, note: readsRaw(step) ? LATE : note, found })
  }

  private readonly raw = (): Uint8Array => {
    this.bytes ??= this.draft.bytes()
    return this.bytes
  }

  /** Runs the steps that read the raw body, and keeps the result. */
  private finish(): void {
    // If the body is too large, its last change is to blame, not the rule whose condition was evaluated last.
    this.at = this.changedBody
    const body = this.raw()
    for (const [rule, each] of this.rules.entries()) {
      const own = this.progress[rule]
      if (own?.matched !== true || !each.rule.steps.some(readsRaw)) continue
      this.meter.startRule(own.timeLeft)
      for (const [step, compiled] of each.rule.steps.entries())
        if (readsRaw(compiled)) this.perform(each, own, { rule, step })
      inDocumentOrder(own)
    }
    const { headers, writtenHeaders, contentType, path, queryString, ip } = this.draft
    this.output = { headers, writtenHeaders, body, contentType, path, queryString, ip }
  }

  private fail({ code, detail }: Fault): void {
    const { rule, step: stepIndex } = this.at
    const own = this.progress[rule]
    if (own === undefined) return
    const takesOut = opsTakingOut(this.rules[rule]?.rule ?? { steps: [] }).length > 0
    own.fault = { stepIndex, code, detail, counted: this.draft.isStructured || !takesOut }
    inDocumentOrder(own)
  }
}

function inDocumentOrder({ steps }: Progress): void {
  steps.sort((left, right) => left.index - right.index)
}

const LATE = 'Runs after all rules, on the bytes to be sent.'

/** @throws Fault `not_structured` for a condition that does not hold, and might if the body could be read */
function* checkDecided(when: Condition, draft: Draft): Generator<void, void> {
  if (!(yield* mayHoldInSteps(when, draft, (path) => draft.isUnknown(path)))) return
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
