import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { gapsQuery, providersQuery } from '../queries.ts'
import type { Endpoint } from '../trpc.ts'
import { plural, withoutScheme } from '../words/format.ts'

const PLACES = [
  { name: 'captures', words: 'Captures', path: '' },
  { name: 'actions', words: 'Actions', path: '/actions' },
  { name: 'rules', words: 'Rules', path: '/rules' },
  { name: 'deliveries', words: 'Deliveries', path: '/deliveries' },
  { name: 'settings', words: 'Settings', path: '/settings' },
] as const

export type Place = (typeof PLACES)[number]['name']

interface Props {
  readonly endpoint: Endpoint
  readonly place: Place
  /** State of the stream, on screens that have one. */
  readonly children?: ReactNode
}

/** Header of an endpoint: its name, its tabs, and its URL to copy. */
export function EndpointBar({ endpoint, place, children }: Props) {
  return (
    <header className="page-bar">
      <h1 title={endpoint.name}>{endpoint.name}</h1>
      {children}
      {!endpoint.isActive && <Badge>Switched off</Badge>}
      <GapNote endpoint={endpoint} />
      {endpoint.suspendedByPlan && <Badge tone="warn">Suspended: over the plan limit</Badge>}
      <nav aria-label="Endpoint">
        {PLACES.map(({ name, words, path }) => (
          <Link
            key={name}
            href={`/e/${endpoint.id}${path}`}
            aria-current={name === place ? 'page' : undefined}
          >
            {words}
          </Link>
        ))}
      </nav>
      <CopyButton className="url" label="Copy the capture URL" text={() => endpoint.url}>
        <code>{withoutScheme(endpoint.url)}</code>
        <span className="url-short">Copy URL</span>
      </CopyButton>
    </header>
  )
}

/** A badge in the head of an endpoint where numbers of its sender's sequence are missing. Asks nothing for other senders. */
function GapNote({ endpoint }: { endpoint: Endpoint }) {
  const providers = useQuery({ ...providersQuery, enabled: endpoint.provider !== null })
  const provider = providers.data?.items.find(({ slug }) => slug === endpoint.provider)
  const gaps = useQuery({ ...gapsQuery(endpoint.id), enabled: provider?.sequence === true })
  const missing = gaps.data?.missingCount ?? 0
  if (missing === 0) return null
  return (
    <Link className="badge" data-tone="warn" href={`/e/${endpoint.id}/settings#missing`}>
      {plural(missing, 'event')} missing
    </Link>
  )
}
