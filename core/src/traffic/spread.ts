/** A period in parts of equal length. */
export interface Period {
  readonly from: Date
  readonly to: Date
  readonly buckets: number
}

/** So much happened at an endpoint in one part of a period; `bucket` counts from 1. */
export interface CountRow {
  readonly endpointId: string
  readonly bucket: number
  readonly count: number
}

/** What is counted by the minute. */
export interface MinuteCount {
  readonly endpointId: string
  readonly minute: Date
  readonly count: number
}

/** How long what is counted together lasts. */
export const MINUTE_MS = 60_000

/**
 * Puts counts of minutes into the parts of a period. Where a minute is several parts, each gets its share in whole numbers; the shares of a minute
 * that lies within the period add up to its count. Of a minute that the period cuts, all goes to the parts that are within: the newest one has
 * only begun.
 */
export function spread(minutes: readonly MinuteCount[], { from, to, buckets }: Period): CountRow[] {
  const begin = from.getTime()
  const lengthMs = (to.getTime() - begin) / buckets
  const bucketAt = (ms: number) => Math.min(buckets, Math.max(1, Math.floor((ms - begin) / lengthMs) + 1))
  return minutes.flatMap(({ endpointId, minute, count }) => {
    const first = bucketAt(minute.getTime())
    const last = bucketAt(Math.min(to.getTime(), minute.getTime() + MINUTE_MS) - 1)
    const parts = last - first + 1
    return Array.from({ length: parts }, (_, part) => ({
      endpointId,
      bucket: first + part,
      count: Math.floor((count * (part + 1)) / parts) - Math.floor((count * part) / parts),
    }))
  })
}
