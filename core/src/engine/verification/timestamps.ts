import { httpDate } from '../message/index.ts'
import type { SchemeRow, TimestampPlace } from '../providers/index.ts'
import type { Evidence } from './evidence.ts'
import type { Candidate } from './signatures.ts'

/** The least tolerance; smaller ones are raised to it, since captures wait in queues on the way, too. */
const TOLERANCE_SECONDS_MIN = 60

/** Result of checking a timestamp. The age is at receipt; it is negative for a time in the future. */
export type TimestampCheck =
  | { readonly kind: 'unchecked' }
  | { readonly kind: 'fresh' | 'stale'; readonly ageSeconds: number; readonly toleranceSeconds: number }
  | { readonly kind: 'unreadable'; readonly where: string }

/** The timestamp as the sender wrote it, undefined when it sent none. */
export function timestampText(
  place: TimestampPlace | undefined,
  candidate: Pick<Candidate, 'timestamp'>,
  evidence: Evidence,
): string | undefined {
  switch (place?.in) {
    case undefined:
      return undefined
    case 'signature':
      return candidate.timestamp
    case 'header':
      return evidence.header(place.name ?? '')
    case 'body':
      return evidence.jsonTexts(place.path ?? '')[0]
    case 'form':
      return evidence.field(place.name ?? '')
    case 'formjson':
      return evidence.fieldJsonText(place.name ?? '', place.path ?? '')
  }
}

export function timestampName(place: TimestampPlace): string {
  if (place.in === 'signature') return 'the timestamp in the signature'
  if (place.in === 'header') return place.name ?? ''
  return `the timestamp at ${place.path ?? place.name}`
}

/**
 * Compares a timestamp with the time of receipt. Without a tolerance in the scheme it is not even parsed.
 */
export function checkTimestamp(
  scheme: Pick<SchemeRow, 'timestamp'>,
  text: string | undefined,
  receivedAt: Date,
): TimestampCheck {
  const place = scheme.timestamp
  if (place?.toleranceSeconds === undefined) return { kind: 'unchecked' }
  if (text === undefined && place.optional === true) return { kind: 'unchecked' }
  const ageSeconds = text === undefined ? undefined : ageOf(text, place.unit, receivedAt)
  if (ageSeconds === undefined) return { kind: 'unreadable', where: timestampName(place) }
  const toleranceSeconds = Math.max(place.toleranceSeconds, TOLERANCE_SECONDS_MIN)
  const kind = Math.abs(ageSeconds) > toleranceSeconds ? 'stale' : 'fresh'
  return { kind, ageSeconds, toleranceSeconds }
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:Z|[+-]\d\d:\d\d)?$/

function ageOf(text: string, unit: TimestampPlace['unit'], receivedAt: Date): number | undefined {
  const received = receivedAt.getTime()
  switch (unit) {
    case 's':
      return /^\d{1,12}$/.test(text) ? Math.floor(received / 1000) - Number(text) : undefined
    case 'ms':
      return /^\d{1,15}$/.test(text) ? (received - Number(text)) / 1000 : undefined
    case 'rfc3339':
      return RFC3339.test(text)
        ? secondsSince(Date.parse(inUtc(withMilliseconds(text))), received)
        : undefined
    case 'http-date':
      return text.length <= 40 ? secondsSince(httpDate(text), received) : undefined
  }
}

/** Adds `Z` to a time without an offset, which is in UTC. */
function inUtc(text: string): string {
  return /(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`
}

/** Cuts the fraction to milliseconds, which dates hold; senders write nanoseconds. */
function withMilliseconds(text: string): string {
  return text.replace(/(\.\d{3})\d+/, '$1')
}

function secondsSince(time: number, received: number): number | undefined {
  return Number.isNaN(time) ? undefined : (received - time) / 1000
}

/** An age in words: `2 s old`, `12 min old`, `3 h ahead`. */
export function ageWords(ageSeconds: number): string {
  return `${spanWords(Math.abs(ageSeconds))} ${ageSeconds < -0.5 ? 'ahead' : 'old'}`
}

/** Age of a stale timestamp and the accepted age, in words; in seconds if larger units would round both to the same. */
export function staleWords(ageSeconds: number, toleranceSeconds: number): { age: string; limit: string } {
  const limit = spanWords(toleranceSeconds)
  if (spanWords(Math.abs(ageSeconds)) !== limit) return { age: ageWords(ageSeconds), limit }
  const age = `${Math.ceil(Math.abs(ageSeconds))} s ${ageSeconds < 0 ? 'ahead' : 'old'}`
  return { age, limit: `${toleranceSeconds} s` }
}

/** A span in words, in its largest whole unit. */
function spanWords(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}
