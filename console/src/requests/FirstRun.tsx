import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { CommandLine } from '../parts/CopyButton.tsx'
import { WriteLink, Writes } from '../parts/Writes.tsx'
import { providersQuery, sessionQuery } from '../queries.ts'
import type { Endpoint } from '../trpc.ts'

const COMMON = [
  ['stripe', 'Stripe'],
  ['github', 'GitHub'],
  ['shopify', 'Shopify'],
] as const

/** A retention from which the page says how to shorten it, in years. */
const LONG_YEARS = 10
/** No plan keeps captures for longer, whatever its number. */
const DAYS_MAX = 36_500

/** Shown before the first capture: instructions, with a command to try. */
export function FirstRun({ endpoint, onSample }: { endpoint: Endpoint; onSample: () => void }) {
  const providers = useQuery(providersQuery)
  const session = useQuery(sessionQuery)
  const years = Math.floor(Math.min(session.data?.limits.retentionDays ?? 0, DAYS_MAX) / 365)
  const others = Math.max(0, (providers.data?.items.length ?? 0) - COMMON.length)
  return (
    <div className="nothing">
      <span className="ripples" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      <h2>Waiting for the first webhook</h2>
      <p>Give this URL to a sender, or try it from a shell. The first capture opens here.</p>
      <CommandLine
        line={`curl ${endpoint.url}/orders -H 'Content-Type: application/json' -d '{"hello":"world"}'`}
      />
      <p className="acts">
        <span className="hint">Provider</span>
        {COMMON.map(([slug, name]) => (
          <Link
            key={slug}
            href={`/e/${endpoint.id}/settings?provider=${slug}#provider`}
            className="button small"
          >
            {name}
          </Link>
        ))}
        <Link href={`/e/${endpoint.id}/settings#provider`} className="button small">
          {others > 0 ? `${others} more…` : 'Others…'}
        </Link>
      </p>
      {years >= LONG_YEARS && (
        <p className="hint">
          Captures are kept for {years} years. <code>retentionDays</code> of the plan in{' '}
          <code>CREEL_PLANS_FILE</code> shortens that.
        </p>
      )}
      <p className="acts">
        <Writes>
          <Button look="primary" onClick={onSample}>
            Send a sample event
          </Button>
        </Writes>
        <WriteLink href={`/e/${endpoint.id}/actions/new`} className="button">
          Add action
        </WriteLink>
      </p>
    </div>
  )
}
