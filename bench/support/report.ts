import { appendFileSync } from 'node:fs'
import { processorTimes } from './cpuTime.ts'

/** Figures within this time, summed over the processors, belong to one measurement. */
const TOGETHER_MS = 500

/** One measured number, a row of `bench/RESULTS.md`. */
export interface Figure {
  /** Part of the service: `capture`, `search`, … */
  readonly group: string
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The goal, if there is one. */
  readonly goal?: { readonly atLeast: number } | { readonly atMost: number }
  /** Share of the processors' time that was idle since the figure before it, in percent. */
  readonly idlePercent?: number
}

let previous = processorTimes()
let previousPercent = 100

/** The idle share since the last call. Figures of one measurement are reported together and get the same share. */
function idleSinceLast(): number {
  const now = processorTimes()
  if (now.all - previous.all < TOGETHER_MS) return previousPercent
  previousPercent = Math.round((100 * (now.idle - previous.idle)) / (now.all - previous.all))
  previous = now
  return previousPercent
}

/** Whether the figure meets its goal; undefined without one. */
export function meetsGoal({ value, goal }: Figure): boolean | undefined {
  if (goal === undefined) return undefined
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

/** A number for display: three significant digits, no exponent. */
export function readable(value: number): string {
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)))
}

/** Prints a figure with the idle share of the processors, and passes it to `bench/run.ts` if that has started this process. */
export function report(figure: Figure): void {
  const { group, name, value, unit, goal } = figure
  const wanted =
    goal === undefined
      ? ''
      : 'atLeast' in goal
        ? `  (goal ≥ ${readable(goal.atLeast)})`
        : `  (goal ≤ ${readable(goal.atMost)})`
  const idlePercent = idleSinceLast()
  const idle = `${idlePercent} % idle`.padStart(10)
  console.log(
    `${group.padEnd(10)} ${name.padEnd(58)} ${readable(value).padStart(9)} ${unit}${wanted} ${idle}`,
  )
  const file = process.env.CREEL_BENCH_FIGURES
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ ...figure, idlePercent })}\n`)
}

/** The value below which `share` of the samples lie; 0 without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
