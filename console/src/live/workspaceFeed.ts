import type { QueryClient } from '@tanstack/react-query'
import { FOLLOWED_ENDPOINTS } from '../queries.ts'
import type { Answers, Endpoint } from '../trpc.ts'

/** An event of the workspace's stream, which one tab receives and forwards to the others. */
export type WorkspaceEvent = Answers['workspace']['follow'] extends AsyncIterable<infer Event> ? Event : never

type Endpoints = Answers['endpoints']['list']

/** Key of the numbers of requests that need attention, by endpoint, as the stream tells them. */
export const ATTENTION = ['attention']

/** See {@link ATTENTION}. */
export type Attention = ReadonlyMap<string, number>

/** Applies events to the query cache: updates counts in place, and refetches lists that changed. */
export class WorkspaceCache {
  #last: Pick<WorkspaceEvent, 'openIncidentCount' | 'alarmedWatchdogCount'> | undefined

  constructor(readonly queries: QueryClient) {}

  /** Applies an event of the stream. */
  hear(event: WorkspaceEvent): void {
    const attention = new Map(this.queries.getQueryData<Attention>(ATTENTION))
    for (const { id, attentionCount } of event.endpoints) attention.set(id, attentionCount)
    this.queries.setQueryData<Attention>(ATTENTION, attention)
    for (const endpoint of event.endpoints) this.#hearOpen(endpoint)
    const known = this.queries.getQueryData<Endpoints>(['endpoints'])
    if (known !== undefined) this.#hearEndpoints(known, event)
    const last = this.#last
    this.#last = event
    // Queries that ran before the first event may be older than it.
    if (last?.openIncidentCount !== event.openIncidentCount) this.#readAnew('incidents')
    if (last?.alarmedWatchdogCount !== event.alarmedWatchdogCount) this.#readAnew('watchdogs')
  }

  /** Refetches everything, where events are not available. */
  readAll(): void {
    for (const name of ['endpoints', 'watchdogs', 'incidents']) this.#readAnew(name)
  }

  #hearEndpoints(known: Endpoints, event: WorkspaceEvent): void {
    const fresh = new Map(event.endpoints.map((endpoint) => [endpoint.id, endpoint]))
    const items = known.items.map((item) => ({ ...item, ...fresh.get(item.id) }))
    if (fresh.size > 0) this.queries.setQueryData<Endpoints>(['endpoints'], { ...known, items })
    const followed = items.slice(0, FOLLOWED_ENDPOINTS)
    const isSameList = event.endpoints.map(({ id }) => id).join() === followed.map(({ id }) => id).join()
    if (event.isListChanged && !isSameList) this.#readAnew('endpoints')
  }

  /** Reads an endpoint of the page anew when it was renamed or switched elsewhere. */
  #hearOpen({ id, isActive, name }: WorkspaceEvent['endpoints'][number]): void {
    const open = this.queries.getQueryData<Endpoint>(['endpoint', id])
    if (open !== undefined && (open.name !== name || open.isActive !== isActive))
      this.#readAnew('endpoint', id)
  }

  #readAnew(...queryKey: string[]): void {
    void this.queries.invalidateQueries({ queryKey })
  }
}
