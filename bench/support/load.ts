import { join } from 'node:path'

/** A load to send. */
export interface LoadOrder {
  readonly url: string
  readonly connections: number
  /** Duration of the measurement, after the warm-up. */
  readonly seconds: number
  readonly warmupSeconds: number
  /** Paths that the connections use in turn, instead of the URL's. */
  readonly paths?: readonly string[]
  /** Body of POSTs; without one the requests are GETs. */
  readonly body?: string
  /** Further header fields. */
  readonly headers?: Readonly<Record<string, string>>
  /** A header with an id of each request: the prefix and a number, the same for `timesEach` requests in a row. */
  readonly ids?: { readonly header: string; readonly prefix: string; readonly timesEach: number }
}

export interface LoadResult {
  /** Number of 2xx answers, the warm-up included. */
  readonly acknowledged: number
  readonly refused: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** Longest time without an answer on any connection. */
  readonly longestGapMs: number
  /** Times of over 20 ms without an answer on any connection. */
  readonly gaps: number
}

/** Runs a load generator in a separate process. */
export async function load(order: LoadOrder): Promise<LoadResult> {
  const generator = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'loadGenerator.ts'), JSON.stringify(order)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const result = await new Response(generator.stdout).text()
  if ((await generator.exited) !== 0) throw new Error('The load generator failed.')
  return JSON.parse(result)
}
