import { useQuery } from '@tanstack/react-query'
import { Search, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { creel } from '../trpc.ts'
import { keepSearch, recentSearches, type Suggestion, suggestions } from './suggestions.ts'

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
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  const labels = useQuery({
    queryKey: ['labels', endpointId],
    queryFn: () => creel.watchdogs.labels.query({ endpointId }),
    enabled: isOpen,
    staleTime: 30_000,
  })
  useEffect(() => setTyped(value), [value])
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
    keepSearch(endpointId, typed.trim())
  }
  const press = (event: KeyboardEvent) => {
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
        <Button look="quiet icon" onClick={() => type('', true)} aria-label="Clear search">
          <X size={14} />
        </Button>
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

/** Suggestions: the last searches while the field is empty, else completions of the last word. */
function offer(
  endpointId: string,
  typed: string,
  labels: readonly { label: string; count: number }[],
): Suggestion[] {
  const recent =
    typed === ''
      ? recentSearches(endpointId).map((search) => ({ search, term: search, about: 'recent search' }))
      : []
  return [...recent, ...suggestions(typed, labels)]
}
