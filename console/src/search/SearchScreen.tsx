import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { Clock } from '../parts/Clock.tsx'
import { Page } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Method, StateMark } from '../parts/StateMark.tsx'
import { endpointsQuery, FOLLOWED_ENDPOINTS } from '../queries.ts'
import { creel, type Endpoint, type RequestSummary, statusOf } from '../trpc.ts'
import { bytes, count, plural } from '../words/format.ts'
import { type Filters, filtersOf, parseSearch } from '../words/grammar.ts'
import { sharedMembers, tellingPreview } from '../words/telling.ts'
import { visible } from '../words/visible.ts'

/** Searches the captures of all endpoints; the address has the search. */
export function SearchScreen() {
  const [params, change] = useAddress()
  const q = params.get('q') ?? ''
  const list = useQuery(endpointsQuery)
  const [times, setTimes] = useState(0)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setTimes(times + 1)
    change({ q: String(new FormData(event.currentTarget).get('q') ?? '').trim() })
  }
  const isCut = list.data !== undefined && list.data.totalCount > list.data.items.length
  return (
    <Page title="Search">
      <form className="search-all" role="search" onSubmit={submit}>
        <input
          key={q}
          name="q"
          className="input"
          type="search"
          aria-label="Search the captures of all endpoints"
          placeholder="Text, or state:failed label:invoice.paid since:2h"
          defaultValue={q}
          spellCheck={false}
          autoComplete="off"
        />
        <Button type="submit" look="primary">
          Search
        </Button>
      </form>
      <Problem error={list.error} onRetry={() => void list.refetch()} />
      {isCut && <p className="hint">The {list.data.items.length} newest endpoints are searched.</p>}
      {q === '' ? (
        <p className="hint">The search has the words of an endpoint’s list, and covers all endpoints.</p>
      ) : (
        list.data !== undefined && (
          <Results key={`${times} ${q}`} q={q} all={list.data.items} onAgain={() => setTimes(times + 1)} />
        )
      )}
    </Page>
  )
}

interface ResultsProps {
  readonly q: string
  readonly all: readonly Endpoint[]
  readonly onAgain: () => void
}

/** Searches once, when it appears: later captures do not change the results. */
function Results({ q, all, onAgain }: ResultsProps) {
  const [endpoints] = useState(() => searched(all))
  const [found, setFound] = useState<readonly Found[]>([])
  const [searchedCount, setSearchedCount] = useState(0)
  const [error, setError] = useState<unknown>(null)
  const terms = parseSearch(q)
  useEffect(() => {
    const leaving = new AbortController()
    searchAll(endpoints, filtersOf(parseSearch(q)), {
      signal: leaving.signal,
      tell: (sofar, done) => {
        setFound(sofar)
        setSearchedCount(done)
      },
    }).catch((reason: unknown) => {
      if (!leaving.signal.aborted) setError(reason)
    })
    return () => leaving.abort()
  }, [endpoints, q])
  const isDone = searchedCount === endpoints.length
  const matching = found.filter(({ items }) => items.length > 0)
  const sealed = found.filter(({ omitsSealed }) => omitsSealed).map(({ endpoint }) => endpoint.name)
  const matchCount = found.reduce((sum, { totalCount }) => sum + totalCount, 0)
  return (
    <>
      {terms.map(
        ({ at, problem, typed }) =>
          problem !== undefined && (
            <p key={at} className="field-problem">
              {typed} is ignored: {problem}
            </p>
          ),
      )}
      <Problem error={error} onRetry={onAgain} />
      <p role="status" className="hint">
        {isDone
          ? `${plural(matchCount, 'result')} in ${plural(matching.length, 'endpoint')}`
          : error !== null
            ? `Searched ${count(searchedCount)} of ${plural(endpoints.length, 'endpoint')}`
            : `Searching ${count(searchedCount + 1)} of ${plural(endpoints.length, 'endpoint')}…`}
      </p>
      {sealed.length > 0 && (
        <p className="banner">The text of encrypted captures is not searched: {sealed.join(', ')}.</p>
      )}
      {matching.map((one) => (
        <FoundIn key={one.endpoint.id} found={one} q={q} />
      ))}
    </>
  )
}

function FoundIn({ found, q }: { readonly found: Found; readonly q: string }) {
  const { endpoint, isEstimate, items, totalCount } = found
  const home = `/e/${endpoint.id}`
  const search = `q=${encodeURIComponent(q)}`
  const text = filtersOf(parseSearch(q)).q ?? ''
  const shared = sharedMembers(items)
  return (
    <section className="found" aria-label={endpoint.name}>
      <h2>
        <Link className="link cut" href={`${home}?${search}`}>
          {endpoint.name}
        </Link>
        <span className="hint">
          {isEstimate ? 'about ' : ''}
          {plural(totalCount, 'result')}
        </span>
      </h2>
      <ul>
        {items.map((row) => {
          const { bodyPreview, deliveryCounts, id, label, method, path, receivedAt, sizeBytes, state } = row
          const about = [label ?? '', path].map(visible).join(' ')
          return (
            <li key={id}>
              <Link className="found-row" href={`${home}?${search}&r=${id}`}>
                <StateMark state={state} counts={deliveryCounts} isShort />
                <span className="hint">#{id}</span>
                <Method method={method} />
                <span className="cut">
                  {label !== null && (
                    <b>
                      <Marked text={visible(label)} by={text} />{' '}
                    </b>
                  )}
                  {path !== '' && (
                    <span className="hint">
                      <Marked text={visible(path)} by={text} />{' '}
                    </span>
                  )}
                  <span className="preview">
                    <Marked
                      text={snippet(bodyPreview, text) ?? tellingPreview(row, shared)}
                      by={text}
                      isElsewhere={!contains(`${about} ${bodyPreview ?? ''}`, text)}
                    />
                  </span>
                </span>
                <span className="hint size">{sizeBytes === 0 ? '' : bytes(sizeBytes)}</span>
                <Clock at={receivedAt} />
              </Link>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** Matches shown of one endpoint; its own list has the rest. */
const SHOWN_MAX = 5

interface Found {
  readonly endpoint: Endpoint
  /** The newest, at most {@link SHOWN_MAX}. */
  readonly items: readonly RequestSummary[]
  readonly totalCount: number
  /** Whether older requests were not looked through. */
  readonly isEstimate: boolean
  /** Whether text was searched that is encrypted in some of its captures. */
  readonly omitsSealed: boolean
}

/**
 * Endpoints in the order in which they are searched: the latest capture first, those without captures not at all. It is
 * not known which of those that are not live have any.
 */
function searched(endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints
    .filter(({ storedRequestCount }, at) => storedRequestCount > 0 || at >= FOLLOWED_ENDPOINTS)
    .sort((left, right) => (right.lastRequestAt ?? '').localeCompare(left.lastRequestAt ?? ''))
}

/**
 * Searches endpoints one after the other, because searches of a workspace wait for each other anyway.
 *
 * @param tell called with all results so far, and the number of endpoints that were searched
 */
async function searchAll(
  endpoints: readonly Endpoint[],
  filters: Filters,
  { signal, tell }: { signal: AbortSignal; tell: (found: readonly Found[], searchedCount: number) => void },
): Promise<void> {
  const found: Found[] = []
  for (const [index, endpoint] of endpoints.entries()) {
    const one = await searchOne(endpoint, filters, signal).catch((reason: unknown) => {
      // Deleted meanwhile, it has no matches.
      if (statusOf(reason) === 404) return undefined
      throw reason
    })
    if (signal.aborted) return
    if (one !== undefined) found.push(one)
    tell([...found], index + 1)
  }
}

/** Searches an endpoint until there are as many matches as are shown, or to its end. */
async function searchOne(endpoint: Endpoint, filters: Filters, signal: AbortSignal): Promise<Found> {
  const read = (from: { before?: string }) =>
    creel.requests.list.query(
      { endpointId: endpoint.id, ...filters, ...from, partial: true, pageSize: SHOWN_MAX },
      { signal },
    )
  const first = await read({})
  const { items, totalCount } = first
  const omitsSealed = first.search?.sealed === true
  if (first.search?.complete !== false) return { endpoint, items, totalCount, isEstimate: false, omitsSealed }
  const all = [...items]
  let page = first
  while (page.next !== null && all.length < SHOWN_MAX) {
    page = await read({ before: page.next })
    all.push(...page.items)
  }
  const isEstimate = page.next !== null
  const about = isEstimate ? Math.max(all.length, page.totalCount) : all.length
  return { endpoint, items: all.slice(0, SHOWN_MAX), totalCount: about, isEstimate, omitsSealed }
}

/** Characters of a body that are shown before a match. */
const BEFORE = 30

const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase())

/** The place of a text in the beginning of a body; undefined if it is not there, or no text is searched. */
function snippet(preview: string | null, text: string): string | undefined {
  const flat = visible((preview ?? '').replace(/\s+/g, ' '))
  const at = text === '' ? -1 : flat.toLowerCase().indexOf(text.toLowerCase())
  return at < 0 ? undefined : `${at > BEFORE ? '…' : ''}${flat.slice(Math.max(0, at - BEFORE))}`
}

interface Props {
  readonly text: string
  /** The text to mark; empty marks nothing. */
  readonly by: string
  /** Whether it occurs in a part that is not shown. */
  readonly isElsewhere?: boolean
}

/** A text with each place of the searched text marked, without case. */
function Marked({ text, by, isElsewhere = false }: Props) {
  if (by === '') return text
  const [lower, part] = [text.toLowerCase(), by.toLowerCase()]
  const pieces = []
  let from = 0
  // A letter whose lower case is longer would shift the places.
  for (let at = 0; lower.length === text.length; from = at + part.length) {
    at = lower.indexOf(part, from)
    if (at < 0) break
    pieces.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + part.length)}</mark>)
  }
  return (
    <>
      {pieces}
      {text.slice(from)}
      {isElsewhere && <i> · found further on</i>}
    </>
  )
}
