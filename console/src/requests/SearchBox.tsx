import { REQUEST_STATES, VERIFICATION_FILTERS } from '@creel/core/engine/words'
import { useQuery } from '@tanstack/react-query'
import { Search, Star, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { parsed } from '../json.ts'
import { Button } from '../parts/Button.tsx'
import { creel } from '../trpc.ts'
import { TERM_NAMES, type Term, termFor, withoutTerm } from '../words/grammar.ts'

const WAIT_MS = 250

interface Props {
  readonly endpointId: string
  readonly value: string
  readonly onChange: (value: string | undefined) => void
}

/** The search. The address has it as typed. Completes filters, values and labels. */
export function SearchBox({ endpointId, value, onChange }: Props) {
  const [typed, setTyped] = useState(value)
  const [chosen, setChosen] = useState(-1)
  const [isOpen, setOpen] = useState(false)
  const [saved, setSaved] = useState(() => searchesOf('saved', endpointId))
  const isSaved = saved.includes(typed.trim())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  const labels = useQuery({
    queryKey: ['labels', endpointId],
    queryFn: () => creel.watchdogs.labels.query({ endpointId }),
    enabled: isOpen,
    staleTime: 30_000,
  })
  // The address has the text without the blanks around it, between which more may be typed.
  useEffect(() => setTyped((now) => (now.trim() === value ? now : value)), [value])
  // The last text must not change the address of another screen, not even of one that is still loading.
  useLayoutEffect(() => () => clearTimeout(timer.current), [])
  const offered: readonly Suggestion[] = isOpen ? offer(endpointId, typed, labels.data?.items ?? []) : []

  const type = (next: string, isNow = false) => {
    setTyped(next)
    setChosen(-1)
    clearTimeout(timer.current)
    const apply = () => onChange(next.trim() || undefined)
    if (isNow) apply()
    else timer.current = setTimeout(apply, WAIT_MS)
  }
  const choose = ({ search }: Suggestion) => {
    const isWhole = !search.endsWith(':')
    type(isWhole ? `${search} ` : search, isWhole)
    input.current?.focus()
  }
  const leave = () => {
    setOpen(false)
    keepSearch('searches', endpointId, typed)
  }
  const save = () => {
    if (isSaved) forgetSearch('saved', endpointId, typed)
    else keepSearch('saved', endpointId, typed)
    setSaved(searchesOf('saved', endpointId))
  }
  const press = (event: KeyboardEvent) => {
    // While an input method composes text, its keys (Enter too) belong to it.
    if (event.nativeEvent.isComposing) return
    const shown = offered[chosen]
    if (event.key === 'ArrowDown') setChosen((before) => Math.min(offered.length - 1, before + 1))
    else if (event.key === 'ArrowUp') setChosen((before) => Math.max(-1, before - 1))
    else if (event.key === 'Enter' && shown !== undefined) choose(shown)
    else if (event.key === 'Enter') {
      type(typed, true)
      setOpen(false)
    } else if (event.key === 'Escape') input.current?.blur()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <search className="search">
      <Search size={14} />
      <input
        ref={input}
        id="search"
        value={typed}
        onChange={(event) => {
          setOpen(true)
          type(event.target.value)
        }}
        onFocus={() => setOpen(true)}
        onBlur={leave}
        onKeyDown={press}
        placeholder="Search, or state:failed is:verified label:invoice.paid since:2h"
        aria-label="Search captures"
        role="combobox"
        aria-expanded={offered.length > 0}
        aria-controls={list}
        aria-activedescendant={chosen >= 0 ? `${list}-${chosen}` : undefined}
        spellCheck={false}
        autoComplete="off"
      />
      {typed === '' ? (
        <kbd>/</kbd>
      ) : (
        <>
          <Button
            look="quiet icon"
            label={isSaved ? 'Forget this search' : 'Save this search'}
            aria-pressed={isSaved}
            onClick={save}
          >
            <Star size={14} fill={isSaved ? 'currentColor' : 'none'} />
          </Button>
          <Button look="quiet icon" onClick={() => type('', true)} aria-label="Clear search">
            <X size={14} />
          </Button>
        </>
      )}
      <div
        id={list}
        role="listbox"
        aria-label="Suggestions"
        className="search-drop"
        hidden={offered.length === 0}
      >
        {offered.map((suggestion, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses
          <div
            key={suggestion.search}
            id={`${list}-${at}`}
            role="option"
            aria-selected={at === chosen}
            // Keeps the focus in the field.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(suggestion)}
          >
            <code>{suggestion.term}</code>
            <small>{suggestion.about}</small>
          </div>
        ))}
      </div>
    </search>
  )
}

/** Suggestions: saved and last searches while the field is empty, else completions of the last word. */
function offer(
  endpointId: string,
  typed: string,
  labels: readonly { label: string; count: number }[],
): Suggestion[] {
  if (typed !== '') return suggestions(typed, labels)
  const saved = searchesOf('saved', endpointId)
  const recent = searchesOf('searches', endpointId).filter((search) => !saved.includes(search))
  return [
    ...saved.map((search) => ({ search, term: search, about: 'saved search' })),
    ...recent.map((search) => ({ search, term: search, about: 'recent search' })),
    ...suggestions(typed, labels),
  ]
}

interface TermsProps {
  readonly search: string
  readonly terms: readonly Term[]
  readonly onChange: (search: string | undefined) => void
}

/** The filters of a search, each with a button to remove it. An invalid filter shows the valid values. */
export function Terms({ search, terms, onChange }: TermsProps) {
  const filters = terms.filter(({ name }) => name !== 'text')
  const problem = filters.find((term) => term.problem !== undefined)?.problem
  if (filters.length === 0) return null
  return (
    <div className="terms">
      {filters.map((term) => (
        <button
          key={term.at}
          type="button"
          data-wrong={term.problem !== undefined}
          title="Remove from search"
          onClick={() => onChange(withoutTerm(search, term) || undefined)}
        >
          <span className="cut">{term.typed}</span>
          <X size={11} />
          <span className="sr-only">, remove</span>
        </button>
      ))}
      {problem !== undefined && (
        <span className="term-problem" role="status">
          {problem}
        </span>
      )}
    </div>
  )
}

interface Suggestion {
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
  { term: 'needs:replay', about: 'a dead letter' },
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
function suggestions(search: string, labels: readonly { label: string; count: number }[]): Suggestion[] {
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

/** Lists of searches of an endpoint in this browser, and how many each keeps. */
const KEPT = { searches: 8, saved: 20 } as const

type SearchList = keyof typeof KEPT

/** The searches of a list, newest first. */
function searchesOf(list: SearchList, endpointId: string): string[] {
  const kept = parsed(localStorage.getItem(`${list}:${endpointId}`) ?? '[]')
  return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
}

function forgetSearch(list: SearchList, endpointId: string, search: string): void {
  const others = searchesOf(list, endpointId).filter((one) => one !== search.trim())
  localStorage.setItem(`${list}:${endpointId}`, JSON.stringify(others))
}

/** Puts a search at the top of a list. */
function keepSearch(list: SearchList, endpointId: string, search: string): void {
  if (search.trim() === '') return
  const others = searchesOf(list, endpointId).filter((one) => one !== search.trim())
  const kept = [search.trim(), ...others].slice(0, KEPT[list])
  localStorage.setItem(`${list}:${endpointId}`, JSON.stringify(kept))
}
