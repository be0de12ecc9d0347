import { Counter, Registry } from 'prom-client'

/**
 * All metrics of this process, for `/metrics`. Each noun declares its own in its `metrics.ts`. Each process has its own
 * registry. Prometheus scrapes programs and adds them up itself; `sumOfMetrics` adds up the processes of one program.
 * Names and units follow Prometheus' conventions: base units, `_total` for counters.
 */
export const registry = new Registry()

/** The option of every metric that puts it into {@link registry}. */
export const registers = [registry]

/**
 * A counter by one label. Every series exists at 0 from the start: Prometheus sees no increase in a series that appears
 * with its first event.
 */
export function counterBy<Label extends string>(
  label: Label,
  values: readonly string[],
  { name, help }: { readonly name: string; readonly help: string },
): Counter<Label> {
  const counter = new Counter({ name, help, labelNames: [label], registers })
  for (const value of values) counter.labels(value).inc(0)
  return counter
}
