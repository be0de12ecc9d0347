import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Bones } from '../parts/Bones.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Page } from '../shell/Page.tsx'
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
    return <Page title="Usage">{error === null ? <Bones /> : <Problem error={error} />}</Page>
  }
  const { limits, plan } = me.data
  const { alertChannels, apiKeys, endpoints, perEndpoint, storage, watchdogs } = usage.data
  const fullest = perEndpoint.toSorted((left, right) => right.storedRequestCount - left.storedRequestCount)
  return (
    <Page title="Usage" head={hasPlan(plan) && <span className="badge">{plan.displayName} plan</span>}>
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
          {Object.entries({
            'Captures per minute and endpoint': limitWords(limits.captureRatePerMinute),
            'Body size of a capture': limitOfBytes(limits.payloadBytesMax),
            'Actions per endpoint': limitWords(limits.actionsMax),
            'Rules per action': limitWords(limits.rulesMax),
            'API calls per minute and key': limitWords(limits.apiRatePerMinute),
          }).map(([name, words]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
      </section>
    </Page>
  )
}
