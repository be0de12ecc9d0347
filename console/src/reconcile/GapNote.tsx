import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { providersQuery } from '../shell/queries.ts'
import type { Endpoint } from '../trpc.ts'
import { plural } from '../words/format.ts'
import { gapsQuery } from './queries.ts'

/** A badge in the head of an endpoint where numbers of its sender's sequence are missing. Asks nothing for other senders. */
export function GapNote({ endpoint }: { endpoint: Endpoint }) {
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
