import { REQUEST_STATES, VERIFICATION_FILTERS } from '@creel/core/engine/words'
import type { Inputs } from '../trpc.ts'

/** Filters of the API's lists and streams; all combine with AND. Times are in ISO 8601. */
export type Filters = Omit<Inputs['requests']['select'], 'endpointId' | 'beforeId' | 'limit'>

export const TERM_NAMES = ['method', 'state', 'needs', 'is', 'label', 'event', 'since', 'until'] as const

/** `attention`: some delivery failed; `replay`: some delivery is a dead letter. */
const NEEDS = ['attention', 'replay'] as const

type TermName = (typeof TERM_NAMES)[number]

/** One word of a search: a known `name:value`, or text. */
export interface Term {
  readonly name: TermName | 'text'
  readonly value: string
  /** As typed, including quotes. */
  readonly typed: string
  readonly at: number
  /** The valid values, if the value is invalid. Then the term is ignored. */
  readonly problem?: string
}

/** The API's limit for text and labels. */
const LENGTH_MAX = 200

/** The API's limit for the id of an event. */
const EVENT_ID_LENGTH_MAX = 2_000

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/**
 * Splits a search into terms at blanks; quotes keep blanks: `label:"a b"`. A word without a known name is text that
 * must occur.
 */
export function parseSearch(search: string): Term[] {
  const terms: Term[] = []
  for (const match of search.matchAll(/(?:([A-Za-z]+):)?(?:"([^"]*)"|(\S+))/g)) {
    const [typed, inFront, quoted, bare] = match
    // A filter without a value yet.
    const isBegun = inFront === undefined && TERM_NAMES.some((known) => `${known}:` === typed.toLowerCase())
    const given = isBegun ? typed.slice(0, -1) : inFront
    const name = TERM_NAMES.find((known) => known === given?.toLowerCase())
    const at = match.index
    if (name === undefined) {
      const value = given === undefined ? (quoted ?? typed) : typed.replaceAll('"', '')
      terms.push({ name: 'text', value, typed, at })
      continue
    }
    const value = isBegun ? '' : (quoted ?? bare ?? '')
    const problem = problemOf(name, value)
    terms.push({ name, value, typed, at, ...(problem === undefined ? {} : { problem }) })
  }
  return terms
}

/**
 * The filters of a search. If a name is repeated, the last term counts.
 *
 * @param now base of relative times such as `since:2h`; milliseconds since 1970
 */
export function filtersOf(terms: readonly Term[], now = Date.now()): Filters {
  const filters: Filters = {}
  const text: string[] = []
  for (const { name, value, problem } of terms) {
    if (problem !== undefined) continue
    if (name === 'text') text.push(value)
    else if (name === 'method') filters.method = value
    else if (name === 'label') filters.label = value
    else if (name === 'event') filters.eventId = value
    else if (name === 'state') Object.assign(filters, { state: known(REQUEST_STATES, value) })
    else if (name === 'needs')
      filters[value.toLowerCase() === 'replay' ? 'deadLettered' : 'needsAttention'] = true
    else if (name === 'is') Object.assign(filters, { verification: known(VERIFICATION_FILTERS, value) })
    else Object.assign(filters, { [name]: instantOf(value, now) })
  }
  const q = text.join(' ').slice(0, LENGTH_MAX)
  return q === '' ? filters : { ...filters, q }
}

/** The search without one of its terms. */
export function withoutTerm(search: string, term: Term): string {
  return `${search.slice(0, term.at)}${search.slice(term.at + term.typed.length)}`.replace(/\s+/g, ' ').trim()
}

/** A term as typed, in quotes if its value has blanks. Quotes inside cannot be searched for and are left out. */
export function termFor(name: TermName | 'text', value: string): string {
  const plain = value.replaceAll('"', '')
  const quoted = /\s/.test(plain) || (name === 'text' && /^[A-Za-z]+:/.test(plain)) ? `"${plain}"` : plain
  return name === 'text' ? quoted : `${name}:${quoted}`
}

function problemOf(name: TermName, value: string): string | undefined {
  if (value === '' && (name === 'method' || name === 'label' || name === 'event'))
    return `${name}: needs a value`
  if (name === 'state' && known(REQUEST_STATES, value) === undefined) {
    return `state must be one of ${REQUEST_STATES.map((state) => state.toLowerCase()).join(', ')}`
  }
  if (name === 'needs' && known(NEEDS, value) === undefined) return `needs must be ${NEEDS.join(' or ')}`
  if (name === 'is' && known(VERIFICATION_FILTERS, value) === undefined)
    return `is must be one of ${VERIFICATION_FILTERS.join(', ')}`
  if ((name === 'since' || name === 'until') && instantOf(value, 0) === undefined) {
    return `${name} must be like 15m, 2h, 3d, or a date like 2026-11-22`
  }
  if (name === 'method' && value.length > 32) return 'a method has at most 32 characters'
  if (name === 'label' && value.length > LENGTH_MAX) return `a label has at most ${LENGTH_MAX} characters`
  if (name === 'event' && value.length > EVENT_ID_LENGTH_MAX)
    return `an event id has at most ${EVENT_ID_LENGTH_MAX} characters`
  return undefined
}

function known<Name extends string>(names: readonly Name[], given: string): Name | undefined {
  return names.find((name) => name.toLowerCase() === given.toLowerCase())
}

function instantOf(value: string, now: number): string | undefined {
  const back = /^(\d{1,6})([smhd])$/.exec(value)
  if (back !== null) {
    const [, amount, unit] = back
    const size = unit === 's' || unit === 'm' || unit === 'h' || unit === 'd' ? SECONDS[unit] : 1
    const at = new Date((Math.floor(now / 1000) - Number(amount) * size) * 1000)
    return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
  }
  if (!/^\d{4}-\d\d(-\d\d)?([T ]|$)/.test(value)) return undefined
  const at = new Date(value)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
