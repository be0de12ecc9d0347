import { ATTEMPT_STATES } from '@creel/core/engine/words'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { BulkBar, runBulk } from '../parts/BulkBar.tsx'
import { Button } from '../parts/Button.tsx'
import { named, Select } from '../parts/Field.tsx'
import { QueryState } from '../parts/Problem.tsx'
import { STATE_WORDS } from '../parts/StateMark.tsx'
import { More, usePages } from '../parts/Table.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { actionsQuery } from '../queries.ts'
import { creel, type Endpoint } from '../trpc.ts'
import { plural } from '../words/format.ts'
import { AttemptItem } from './AttemptItem.tsx'

const PAGE = 50
const REFRESH_MS = 5_000
const STATES = [
  { value: '', words: 'All states' },
  ...ATTEMPT_STATES.map((value) => ({ value, words: STATE_WORDS[value] })),
]

/** Every attempt of an endpoint, newest first. Dead letters can be replayed together. */
export function DeliveriesScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  const [params, change] = useAddress()
  const state = ATTEMPT_STATES.find((known) => known === params.get('state'))
  const actionId = params.get('action') ?? undefined
  const [open, setOpen] = useState<number | null>(null)
  const actions = useQuery(actionsQuery(endpoint.id))
  const filters = { state, actionId }
  const { items, pages, totalCount } = usePages(
    ['deliveries', endpoint.id, filters],
    PAGE,
    (page) => creel.deliveries.list.query({ endpointId: endpoint.id, ...filters, ...page }),
    REFRESH_MS,
  )
  const longest = Math.max(1, ...items.map(({ durationMs }) => durationMs ?? 0))
  return (
    <>
      <div className="section-head">
        <h2>{pages.data === undefined ? 'Attempts' : plural(totalCount, 'attempt')}</h2>
        <Select
          label="State"
          value={state ?? ''}
          options={STATES}
          onChange={(next) => change({ state: next }, true)}
        />
        <Select
          label="Action"
          value={actionId ?? ''}
          options={named(actions.data?.actions, 'All actions')}
          onChange={(next) => change({ action: next }, true)}
        />
        <Link className="button small" href={`/e/${endpoint.id}/rehearse`}>
          Rehearse
        </Link>
        <Writes>
          <DeadLetters endpointId={endpoint.id} />
        </Writes>
      </div>
      <BulkBar endpointId={endpoint.id} />
      <QueryState of={pages} />
      {pages.data !== undefined && items.length === 0 && (
        <div className="nothing">
          {state === undefined && actionId === undefined ? (
            <>
              <p>No deliveries yet. Actions forward captures.</p>
              <Link className="button" href={`/e/${endpoint.id}/actions`}>
                Go to actions
              </Link>
            </>
          ) : (
            <>
              <p>No attempts match.</p>
              <Button onClick={() => change({ state: undefined, action: undefined }, true)}>
                Show all attempts
              </Button>
            </>
          )}
        </div>
      )}
      {items.length > 0 && (
        <div className="deliveries">
          <ol className="attempts">
            {items.map((attempt) => (
              <AttemptItem
                key={attempt.id}
                endpointId={endpoint.id}
                attempt={attempt}
                share={(attempt.durationMs ?? 0) / longest}
                isNamed
                isOpen={open === attempt.id}
                onToggle={() => setOpen(open === attempt.id ? null : attempt.id)}
              />
            ))}
          </ol>
        </div>
      )}
      <More of={pages}>Older attempts</More>
    </>
  )
}

/** Number of requests with dead letters, and a button that replays them through the actions of these. */
function DeadLetters({ endpointId }: { endpointId: string }) {
  const found = useQuery({
    queryKey: ['dead letters', endpointId],
    queryFn: () => creel.requests.list.query({ endpointId, deadLettered: true, partial: true, pageSize: 1 }),
    refetchInterval: REFRESH_MS,
  })
  const count = found.data?.totalCount ?? 0
  const about = found.data?.search?.complete === false ? 'about ' : ''
  const replay = useCall(
    () =>
      runBulk(
        endpointId,
        'queued for replay',
        { filters: { deadLettered: true }, about: count },
        async (ids) => {
          const { queuedCount, skippedCount } = await creel.requests.bulkReplay.mutate({
            endpointId,
            requestIds: [...ids],
            deadLettersOnly: true,
          })
          return { done: queuedCount, skipped: skippedCount }
        },
      ),
    [['deliveries', endpointId]],
  )
  if (count === 0) return null
  return (
    <>
      <Link className="link" href={`/e/${endpointId}?q=needs:replay`}>
        Dead letters ({about}
        {count})
      </Link>
      <Button {...replay.button()}>Replay all {count}</Button>
    </>
  )
}
