import { useQuery } from '@tanstack/react-query'
import { Plus, Timer } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { lazyPart } from '../parts/lazyPart.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Writes } from '../parts/Writes.tsx'
import { endpointsQuery } from '../shell/queries.ts'
import { useShortcuts } from '../shell/shortcuts.ts'
import type { Endpoint } from '../trpc.ts'
import { ago, count } from '../words/format.ts'

const NewEndpoint = lazyPart(async () => (await import('./NewEndpoint.tsx')).NewEndpoint)

const FRESH_MS = 60_000

/** The endpoints of the workspace, in the sidebar. */
export function EndpointNav() {
  const endpoints = useQuery(endpointsQuery)
  const [, navigate] = useLocation()
  const [, here] = useRoute('/e/:endpointId/*?')
  const [isNew, setNew] = useState(false)
  const items = endpoints.data?.items ?? []
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
      <ul className="endpoints">
        {items.map((endpoint) => (
          <li key={endpoint.id}>
            <EndpointLink
              endpoint={endpoint}
              isHere={endpoint.id === here?.endpointId}
              isNamesake={items.some(({ id, name }) => name === endpoint.name && id !== endpoint.id)}
            />
          </li>
        ))}
      </ul>
      <Suspense>{isNew && <NewEndpoint onClose={() => setNew(false)} />}</Suspense>
    </section>
  )
}

interface LinkProps {
  readonly endpoint: Endpoint
  readonly isHere: boolean
  /** Whether another endpoint has its name: then its id tells them apart. */
  readonly isNamesake: boolean
}

function EndpointLink({ endpoint, isHere, isNamesake }: LinkProps) {
  const { expiresAt, id, isActive, lastRequestAt, name, storedRequestCount } = endpoint
  const isFresh = lastRequestAt !== null && Date.now() - Date.parse(lastRequestAt) < FRESH_MS
  return (
    <Link href={`/e/${id}`} aria-current={isHere ? 'page' : undefined}>
      <span className="dot" data-on={isActive ? (isFresh ? 'fresh' : 'yes') : 'no'} aria-hidden="true" />
      <span className="name" title={name}>
        {name}
      </span>
      {isNamesake && <span className="hint">{id.slice(0, 4)}</span>}
      {!isActive && <span className="sr-only">, switched off</span>}
      <span className="count" title={`${count(storedRequestCount)} stored, last ${ago(lastRequestAt)}`}>
        {expiresAt === null ? (
          count(storedRequestCount)
        ) : (
          <>
            <Timer size={12} />
            <span className="sr-only">deleted in </span>
            {ago(expiresAt).replace('in ', '')}
          </>
        )}
      </span>
    </Link>
  )
}
