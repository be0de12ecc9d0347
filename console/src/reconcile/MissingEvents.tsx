import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Clock } from '../parts/Clock.tsx'
import { Problem } from '../parts/Problem.tsx'
import { providersQuery } from '../shell/queries.ts'
import type { Answers, Endpoint } from '../trpc.ts'
import { count, plural } from '../words/format.ts'
import { gapsQuery } from './queries.ts'
import { ReconcileForm } from './ReconcileForm.tsx'
import { Runs } from './Runs.tsx'

/** Events that never came: gaps in the sender's sequence, and what the sender's list says. Nothing where neither can be seen. */
export function MissingEvents({ endpoint }: { endpoint: Endpoint }) {
  const providers = useQuery(providersQuery)
  const provider = providers.data?.items.find(({ slug }) => slug === endpoint.provider)
  if (provider === undefined || endpoint.eventIdPath !== null) return null
  if (!provider.sequence && !provider.reconcilable) return null
  return (
    <section className="card" id="missing" aria-label="Missing events">
      <h2>Missing events</h2>
      {provider.sequence && <Gaps endpoint={endpoint} providerName={provider.name} />}
      {provider.reconcilable && (
        <>
          <ReconcileForm endpoint={endpoint} providerName={provider.name} />
          <Runs endpointId={endpoint.id} />
        </>
      )}
    </section>
  )
}

type Gap = Answers['reconcile']['gaps']['items'][number]

function Gaps({ endpoint, providerName }: { endpoint: Endpoint; providerName: string }) {
  const { data, error } = useQuery(gapsQuery(endpoint.id))
  if (data === undefined) return <Problem error={error} />
  if (data.items.length === 0)
    return <p className="hint">{providerName} numbers its events. No number is missing between captures.</p>
  return (
    <>
      <p>
        {providerName} numbers its events. {plural(data.missingCount, 'event')} between captures are missing.
      </p>
      <ul className="cards" aria-label="Gaps">
        {data.items.map((gap) => (
          <GapLine key={gap.afterRequestId} gap={gap} endpointId={endpoint.id} />
        ))}
      </ul>
    </>
  )
}

function GapLine({ gap, endpointId }: { gap: Gap; endpointId: string }) {
  const { firstMissing, lastMissing, beforeRequestId, afterRequestId, to } = gap
  return (
    <li className="item">
      <span className="item-name mono">
        {firstMissing === lastMissing ? firstMissing : `${firstMissing} – ${lastMissing}`}
      </span>
      <span className="item-what">
        {count(gap.count)} missing, <Clock at={to} />
      </span>
      <Link className="link" href={`/e/${endpointId}?r=${beforeRequestId}`}>
        Before
      </Link>
      <Link className="link" href={`/e/${endpointId}?r=${afterRequestId}`}>
        After
      </Link>
    </li>
  )
}
