/** A period divided into parts of equal length. */
export interface Period {
  readonly from: Date
  readonly to: Date
  readonly buckets: number
}

/** A count of one endpoint in one part of a period; `bucket` counts from 1. */
export interface CountRow {
  readonly endpointId: string
  readonly bucket: number
  readonly count: number
}

/** Number of captures of an endpoint in one minute. */
export interface MinuteCount {
  readonly endpointId: string
  readonly minute: Date
  readonly count: number
}

/** Length of a minute. */
export const MINUTE_MS = 60_000

/**
 * Distributes counts of minutes over the parts of a period. A minute that spans several parts is divided into whole
 * numbers; the shares of a minute within the period add up to its count. If the period cuts a minute, the parts within
 * get all of its count, because the newest minute has only begun.
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
