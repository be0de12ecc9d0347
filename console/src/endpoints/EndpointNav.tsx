import { useQuery } from '@tanstack/react-query'
import { Plus, Timer } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { ATTENTION, type Attention } from '../live/workspaceFeed.ts'
import { lazyPart } from '../parts/Boundary.tsx'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { useShortcuts } from '../parts/shortcuts.ts'
import { Writes } from '../parts/Writes.tsx'
import { endpointsQuery } from '../queries.ts'
import type { Endpoint } from '../trpc.ts'
import { ago, count } from '../words/format.ts'
import { groupsOf } from './groups.ts'

const NewEndpoint = lazyPart(async () => (await import('./NewEndpoint.tsx')).NewEndpoint)

const FRESH_MS = 60_000
/** From so many endpoints on there is a filter. */
const FILTER_FROM = 6
const ATTENTION_MAX = 99

/** The endpoints of the workspace, in the sidebar. */
export function EndpointNav() {
  const endpoints = useQuery(endpointsQuery)
  const [, navigate] = useLocation()
  const [, here] = useRoute('/e/:endpointId/*?')
  const [isNew, setNew] = useState(false)
  const [typed, setTyped] = useState('')
  const attention = useQuery<Attention>({ queryKey: ATTENTION, enabled: false }).data ?? NONE
  const { items: all = [], totalCount = 0 } = endpoints.data ?? {}
  const groups = groupsOf(all.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase())))
  const items = groups.flatMap((group) => group.items)
  const step = (by: number) => {
    const at = items.findIndex(({ id }) => id === here?.endpointId)
    const next = items[(at + by + items.length) % items.length]
    if (next !== undefined) navigate(`/e/${next.id}`)
  }
  useShortcuts({
    newEndpoint: () => setNew(true),
    nextEndpoint: () => step(1),
    previousEndpoint: () => step(-1),
  })
  const line = (endpoint: Endpoint, shown = endpoint.name) => (
    <EndpointLink
      key={endpoint.id}
      endpoint={endpoint}
      shown={shown}
      attention={attention.get(endpoint.id) ?? 0}
      isHere={endpoint.id === here?.endpointId}
      isNamesake={all.some(({ id, name }) => name === endpoint.name && id !== endpoint.id)}
    />
  )
  return (
    <section aria-label="Endpoints">
      <h2>
        Endpoints
        <Writes>
          <Button
            look="quiet icon"
            title="New endpoint (n)"
            aria-label="New endpoint"
            onClick={() => setNew(true)}
          >
            <Plus size={14} />
          </Button>
        </Writes>
      </h2>
      <Problem error={endpoints.error} />
      {all.length >= FILTER_FROM && (
        <input
          className="input filter"
          type="search"
          aria-label="Filter endpoints"
          placeholder="Filter"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={({ key, nativeEvent }) => {
            if (key === 'Enter' && !nativeEvent.isComposing && items[0] !== undefined)
              navigate(`/e/${items[0].id}`)
          }}
        />
      )}
      {totalCount > all.length && (
        <p className="hint">
          The newest {count(all.length)} of {count(totalCount)} endpoints.
        </p>
      )}
      {typed !== '' && items.length === 0 && (
        <p className="hint">{totalCount > all.length ? 'None of them' : 'No endpoint'} has this name.</p>
      )}
      <ul className="endpoints">
        {groups.map(({ name, items: of }) =>
          name === undefined ? (
            of.map((one) => line(one))
          ) : (
            <li key={name} className="group">
              <details open>
                <summary>{name}</summary>
                <ul>{of.map((one) => line(one, one.name.slice(name.length + 1)))}</ul>
              </details>
            </li>
          ),
        )}
      </ul>
      {isNew && <NewEndpoint onClose={() => setNew(false)} />}
    </section>
  )
}

const NONE: Attention = new Map()

interface LinkProps {
  readonly endpoint: Endpoint
  /** Its name, or the part of it that its group lacks. */
  readonly shown: string
  /** Number of requests that need attention. */
  readonly attention: number
  readonly isHere: boolean
  /** Whether another endpoint has its name: then its id tells them apart. */
  readonly isNamesake: boolean
}

function EndpointLink({ endpoint, shown, attention, isHere, isNamesake }: LinkProps) {
  const { expired, expiresAt, id, isActive, lastRequestAt, name, storedRequestCount } = endpoint
  const isFresh = lastRequestAt !== null && Date.now() - Date.parse(lastRequestAt) < FRESH_MS
  return (
    <li>
      <Link href={`/e/${id}`} aria-current={isHere ? 'page' : undefined}>
        <span className="dot" data-on={isActive ? (isFresh ? 'fresh' : 'yes') : 'no'} aria-hidden="true" />
        <span className="name" title={name}>
          {shown}
        </span>
        {isNamesake && <span className="hint">{id.slice(0, 4)}</span>}
        {!isActive && <span className="sr-only">, switched off</span>}
        <span className="count" title={`${count(storedRequestCount)} stored, last ${ago(lastRequestAt)}`}>
          {expiresAt === null ? (
            count(storedRequestCount)
          ) : expired || Date.parse(expiresAt) <= Date.now() ? (
            'expired'
          ) : (
            <>
              <Timer size={12} />
              <span className="sr-only">deleted in </span>
              {ago(expiresAt).replace('in ', '')}
            </>
          )}
        </span>
      </Link>
      {attention > 0 && (
        <Link
          className="badge"
          data-tone="bad"
          href={`/e/${id}?q=needs:attention`}
          aria-label={`${attention} need attention in ${name}`}
          title="Deliveries that failed, or are dead letters"
        >
          {attention > ATTENTION_MAX ? `${ATTENTION_MAX}+` : attention}
        </Link>
      )}
    </li>
  )
}
