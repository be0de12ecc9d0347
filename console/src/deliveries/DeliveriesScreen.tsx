import { ATTEMPT_STATES } from '@creel/core/engine/words'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { Bones } from '../parts/Bones.tsx'
import { Button } from '../parts/Button.tsx'
import { More } from '../parts/More.tsx'
import { Problem } from '../parts/Problem.tsx'
import { STATE_WORDS } from '../parts/StateMark.tsx'
import { Writes } from '../parts/Writes.tsx'
import { BulkBar } from '../requests/BulkBar.tsx'
import { runBulk } from '../requests/bulk.ts'
import { actionsQuery } from '../requests/queries.ts'
import { creel, type Endpoint } from '../trpc.ts'
import { plural } from '../words/format.ts'
import { AttemptItem } from './AttemptItem.tsx'

const PAGE = 50
const REFRESH_MS = 5_000

/** Every attempt of an endpoint, newest first. Dead letters can be replayed together. */
export function DeliveriesScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  const [params, change] = useAddress()
  const state = ATTEMPT_STATES.find((known) => known === params.get('state'))
  const actionId = params.get('action') ?? undefined
  const [open, setOpen] = useState<number | null>(null)
  const actions = useQuery(actionsQuery(endpoint.id))
  const filters = {
    ...(state === undefined ? {} : { state }),
    ...(actionId === undefined ? {} : { actionId }),
  }
  const attempts = useInfiniteQuery({
    queryKey: ['deliveries', endpoint.id, filters],
    queryFn: ({ pageParam }) =>
      creel.deliveries.list.query({ endpointId: endpoint.id, ...filters, page: pageParam, pageSize: PAGE }),
    initialPageParam: 1,
    getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
    // Only the first page refreshes itself, so that rows do not move while the user reads further down.
    refetchInterval: ({ state: query }) => ((query.data?.pages.length ?? 0) > 1 ? false : REFRESH_MS),
  })
  const pages = attempts.data?.pages ?? []
  const items = pages.flatMap((page) => page.items)
  const longest = Math.max(1, ...items.map(({ durationMs }) => durationMs ?? 0))
  return (
    <>
      <div className="section-head">
        <h2>{plural(pages[0]?.totalCount ?? 0, 'attempt')}</h2>
        <select
          className="select"
          aria-label="State"
          value={state ?? ''}
          onChange={({ target }) => change({ state: target.value }, true)}
        >
          <option value="">All states</option>
          {ATTEMPT_STATES.map((one) => (
            <option key={one} value={one}>
              {STATE_WORDS[one]}
            </option>
          ))}
        </select>
        <select
          className="select"
          aria-label="Action"
          value={actionId ?? ''}
          onChange={({ target }) => change({ action: target.value }, true)}
        >
          <option value="">All actions</option>
          {actions.data?.actions.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <Link className="button small" href={`/e/${endpoint.id}/rehearse`}>
          Rehearse
        </Link>
        <Writes>
          <DeadLetters endpointId={endpoint.id} />
        </Writes>
      </div>
      <BulkBar endpointId={endpoint.id} />
      <Problem error={attempts.error} onRetry={() => void attempts.refetch()} />
      {attempts.isLoading && <Bones />}
      {attempts.data !== undefined && items.length === 0 && (
        <div className="nothing">
          <p>No deliveries yet. Actions forward captures.</p>
          <Link className="button" href={`/e/${endpoint.id}/actions`}>
            Go to actions
          </Link>
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
                about={`#${attempt.requestId} ${attempt.actionName}`}
                isOpen={open === attempt.id}
                onToggle={() => setOpen(open === attempt.id ? null : attempt.id)}
              />
            ))}
          </ol>
        </div>
      )}
      <More of={attempts}>Older attempts</More>
    </>
  )
}

/** Number of dead letters, with a button to replay all of them. */
function DeadLetters({ endpointId }: { endpointId: string }) {
  const queries = useQueryClient()
  const found = useQuery({
    queryKey: ['dead letters', endpointId],
    queryFn: () => creel.requests.list.query({ endpointId, state: 'DeadLetter', partial: true, pageSize: 1 }),
    refetchInterval: REFRESH_MS,
  })
  const count = found.data?.totalCount ?? 0
  const about = found.data?.search?.complete === false ? 'about ' : ''
  const replay = useMutation({
    mutationFn: () =>
      runBulk(
        endpointId,
        'queued for replay',
        { filters: { state: 'DeadLetter' }, about: count },
        async (ids) => {
          const { queuedCount, skippedCount } = await creel.requests.bulkReplay.mutate({
            endpointId,
            requestIds: [...ids],
          })
          return { done: queuedCount, skipped: skippedCount }
        },
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['deliveries', endpointId] }),
  })
  if (count === 0) return null
  return (
    <>
      <Link className="link" href={`/e/${endpointId}?q=state:deadletter`}>
        Dead letters ({about}
        {count})
      </Link>
      <Button disabled={replay.isPending} onClick={() => replay.mutate()}>
        Replay all {count}
      </Button>
    </>
  )
}
