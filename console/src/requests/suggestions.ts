import { REQUEST_STATES, VERIFICATION_FILTERS } from '@creel/core/engine/words'
import { TERM_NAMES, termFor } from '../words/grammar.ts'

/** A completion of a search. */
export interface Suggestion {
  /** The whole search with the completion. */
  readonly search: string
  /** The added term. */
  readonly term: string
  readonly about: string
}

const ABOUT: Readonly<Record<(typeof TERM_NAMES)[number], string>> = {
  method: 'HTTP method',
  state: 'delivery state',
  needs: 'a delivery that failed',
  is: 'signature',
  label: 'event type',
  event: "the sender's event id",
  since: 'received since: 15m, 2h, 3d or a date',
  until: 'before',
}

const FIXED = [
  ...REQUEST_STATES.map((state) => ({ term: `state:${state.toLowerCase()}`, about: ABOUT.state })),
  { term: 'needs:attention', about: ABOUT.needs },
  ...VERIFICATION_FILTERS.map((verdict) => ({ term: `is:${verdict}`, about: ABOUT.is })),
  ...['POST', 'GET', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
    term: `method:${method}`,
    about: ABOUT.method,
  })),
  ...['15m', '2h', '1d', '7d'].map((back) => ({ term: `since:${back}`, about: ABOUT.since })),
]

const SHOWN = 9

/**
 * Completions of the last word of a search: names of filters, then their values, and captured labels. Empty once the
 * word is a complete filter.
 */
export function suggestions(
  search: string,
  labels: readonly { label: string; count: number }[],
): Suggestion[] {
  const last = /\S*$/.exec(search)?.[0] ?? ''
  const before = search.slice(0, search.length - last.length)
  const names = TERM_NAMES.map((name) => ({ term: `${name}:`, about: ABOUT[name] }))
  const ofLabels = labels.map(({ label, count }) => ({
    term: termFor('label', label),
    about: `${count} stored`,
  }))
  const all = last.includes(':')
    ? [...ofLabels, ...FIXED]
    : last === ''
      ? names
      : [...names, ...FIXED, ...ofLabels]
  const lower = last.toLowerCase()
  return all
    .filter(({ term }) => term.toLowerCase() !== lower && matches(term.toLowerCase(), lower))
    .slice(0, SHOWN)
    .map(({ term, about }) => ({ search: before + term, term, about }))
}

/** Matches by the beginning of the term, or of its value. */
function matches(term: string, typed: string): boolean {
  return term.startsWith(typed) || (typed.length > 1 && !typed.includes(':') && term.includes(`:${typed}`))
}

const KEPT = 8

/** The last searches of an endpoint in this browser, newest first. */
export function recentSearches(endpointId: string): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`searches:${endpointId}`) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Adds a search to the last ones. */
export function keepSearch(endpointId: string, search: string): void {
  if (search.trim() === '') return
  const kept = [search, ...recentSearches(endpointId).filter((one) => one !== search)].slice(0, KEPT)
  localStorage.setItem(`searches:${endpointId}`, JSON.stringify(kept))
}
