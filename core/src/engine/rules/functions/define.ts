import { Fault } from '../language/fault.ts'
import { RUN_LIMITS } from '../language/limits.ts'
import type { Value } from '../language/values.ts'
import type { Kind, Parameter } from './parameters.ts'

/** The input of a call in addition to its arguments. */
export interface CallFacts {
  /** Start of this attempt. */
  readonly now: Date
  /** Version 5 over request, action, rule and step: the same on every attempt. */
  readonly uuid: () => string
  /**
   * Called for every piece of an argument that is processed separately, so that long ones stop at the rule's time
   * limit.
   */
  readonly tick: () => void
}

/** One function of the table. The engine calls it, the decoder checks arity by it, the docs are generated from it. */
export interface RuleFunction {
  readonly parameters: readonly Parameter<unknown>[]
  /** The most arguments if the last parameter repeats, else null. */
  readonly repeats: number | null
  readonly result: string
  /** One line for the docs. */
  readonly summary: string
  /** @throws Fault */
  readonly call: (values: readonly Value[], facts: CallFacts) => Value
}

type Read<Parameters extends readonly Parameter<unknown>[]> = {
  [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer T> ? T : never
}

export function parameter<T>(name: string, kind: Kind<T>): Parameter<T> {
  return { name, kind }
}

/** A parameter that may be left out. */
export function optional<T>(
  name: string,
  kind: Kind<T>,
  value: NoInfer<T>,
  words = JSON.stringify(value),
): Parameter<T> {
  return { name, kind, fallback: { value, words } }
}

export function define<const Parameters extends readonly Parameter<unknown>[]>(
  result: string,
  parameters: Parameters,
  summary: string,
  call: (args: Read<Parameters>, facts: CallFacts) => Value,
): RuleFunction {
  return {
    parameters,
    repeats: null,
    result,
    summary,
    call: (values, facts) => {
      const args = parameters.map((each, index) => {
        const value = values[index] ?? null
        return value === null && each.fallback !== undefined ? each.fallback.value : each.kind.read(value)
      })
      // `args` has one entry a parameter, read by that parameter's own kind.
      return bounded(call(args as unknown as Read<Parameters>, facts))
    },
  }
}

/** The most arguments of a function whose parameter repeats. */
const MAX_REPEATS = 20

/** A function that takes 1-20 arguments of one kind. */
export function defineRepeated<T>(
  result: string,
  each: Parameter<T>,
  summary: string,
  call: (args: readonly T[]) => Value,
): RuleFunction {
  return {
    parameters: [each],
    repeats: MAX_REPEATS,
    result,
    summary,
    call: (values) => bounded(call(values.map(each.kind.read))),
  }
}

/** The fewest and the most arguments of a function. */
export function arityOf({ parameters, repeats }: RuleFunction): { least: number; most: number } {
  const least = parameters.filter((each) => each.fallback === undefined).length
  return { least, most: repeats ?? parameters.length }
}

/** The parameter that the argument at `index` is for. */
export function parameterAt(
  { parameters, repeats }: RuleFunction,
  index: number,
): Parameter<unknown> | undefined {
  return parameters[index] ?? (repeats === null ? undefined : parameters.at(-1))
}

function bounded(value: Value): Value {
  return typeof value === 'string' ? boundedText(value) : value
}

/** @throws Fault `too_large` for text over 1 MiB */
export function boundedText(text: string): string {
  const { textBytes } = RUN_LIMITS
  if (text.length > textBytes || (text.length * 3 > textBytes && Buffer.byteLength(text) > textBytes))
    throw tooLarge()
  return text
}

/** The fault of a result over 1 MiB; the caller throws it. */
export function tooLarge(): Fault {
  return new Fault('too_large', `The result is over ${RUN_LIMITS.textBytes} bytes.`)
}
