import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Bones } from '../parts/Bones.tsx'
import { Problem } from '../parts/Problem.tsx'
import { PageHead } from '../shell/PageHead.tsx'
import { meQuery } from '../shell/queries.ts'
import { creel } from '../trpc.ts'
import { bytes, count, plural } from '../words/format.ts'
import { hasPlan, isLimit, limitOfBytes, limitWords } from '../words/limit.ts'
import { Days } from './Days.tsx'
import { Meter } from './Meter.tsx'

/** Use of the plan's limits. */
export function UsageScreen() {
  const me = useQuery(meQuery)
  const usage = useQuery({ queryKey: ['usage'], queryFn: () => creel.workspace.usage.query({}) })
  const error = me.error ?? usage.error
  if (me.data === undefined || usage.data === undefined) {
    return (
      <main id="main" className="page">
        <PageHead title="Usage" />
        <div className="page-body">{error === null ? <Bones /> : <Problem error={error} />}</div>
      </main>
    )
  }
  const { limits, plan } = me.data
  const { alertChannels, apiKeys, endpoints, perEndpoint, storage, watchdogs } = usage.data
  const fullest = perEndpoint.toSorted((left, right) => right.storedRequestCount - left.storedRequestCount)
  return (
    <main id="main" className="page">
      <PageHead title="Usage">
        {hasPlan(plan) && <span className="badge">{plan.displayName} plan</span>}
      </PageHead>
      <div className="page-body">
        <section className="meters" aria-label="Usage and limits">
          <Meter words="Endpoints" used={endpoints.count} limit={endpoints.max} />
          <Meter words="Watchdogs" used={watchdogs.count} limit={watchdogs.max} />
          <Meter words="Alert channels" used={alertChannels.count} limit={alertChannels.max} />
          <Meter words="API keys" used={apiKeys.count} limit={apiKeys.max} />
        </section>
        <Days />
        <section className="card" aria-label="Stored by endpoint">
          <h2>
            Stored by endpoint{' '}
            <span className="hint">
              {isLimit(limits.storedRequestsMax) && `at most ${count(limits.storedRequestsMax)} each, `}
              {isLimit(limits.retentionDays) && `for ${plural(limits.retentionDays, 'day')}, `}
              {bytes(storage.bytes)} in total, with headers and attempts
            </span>
          </h2>
          <div className="meters">
            {fullest.slice(0, 24).map(({ endpointId, name, storedRequestCount }) => (
              <Link key={endpointId} href={`/e/${endpointId}`}>
                <Meter words={name} used={storedRequestCount} limit={limits.storedRequestsMax} />
              </Link>
            ))}
          </div>
        </section>
        <section className="card" aria-label="Limits">
          <h2>Limits</h2>
          <dl className="facts">
            <div>
              <dt>Captures per minute and endpoint</dt>
              <dd>{limitWords(limits.captureRatePerMinute)}</dd>
            </div>
            <div>
              <dt>Body size of a capture</dt>
              <dd>{limitOfBytes(limits.payloadBytesMax)}</dd>
            </div>
            <div>
              <dt>Actions per endpoint</dt>
              <dd>{limitWords(limits.actionsMax)}</dd>
            </div>
            <div>
              <dt>Rules per action</dt>
              <dd>{limitWords(limits.rulesMax)}</dd>
            </div>
            <div>
              <dt>API calls per minute and key</dt>
              <dd>{limitWords(limits.apiRatePerMinute)}</dd>
            </div>
          </dl>
        </section>
      </div>
    </main>
  )
}
