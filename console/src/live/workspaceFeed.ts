import type { QueryClient } from '@tanstack/react-query'
import type { Answers } from '../trpc.ts'

/** What one tab hears of the workspace and passes on to the others. */
export type WorkspaceEvent = Answers['workspace']['follow'] extends AsyncIterable<infer Event> ? Event : never

type Endpoints = Answers['endpoints']['list']

/** Brings what happened into what the page remembers: counts in place, lists that changed are read anew. */
export class WorkspaceCache {
  #last: Pick<WorkspaceEvent, 'openIncidentCount' | 'alarmedWatchdogCount'> | undefined

  constructor(readonly queries: QueryClient) {}

  /** Takes an event of the stream. */
  hear(event: WorkspaceEvent): void {
    const known = this.queries.getQueryData<Endpoints>(['endpoints'])
    if (known !== undefined) this.#hearEndpoints(known, event)
    const last = this.#last
    this.#last = event
    // What was read before the first event may be older than it.
    if (last?.openIncidentCount !== event.openIncidentCount) this.#readAnew('incidents')
    if (last?.alarmedWatchdogCount !== event.alarmedWatchdogCount) this.#readAnew('watchdogs')
  }

  /** Reads everything anew: nobody says what changed. */
  readAll(): void {
    for (const name of ['endpoints', 'watchdogs', 'incidents']) this.#readAnew(name)
  }

  #hearEndpoints(known: Endpoints, event: WorkspaceEvent): void {
    const fresh = new Map(event.endpoints.map((endpoint) => [endpoint.id, endpoint]))
    const items = known.items.map((item) => ({ ...item, ...fresh.get(item.id) }))
    if (fresh.size > 0) this.queries.setQueryData<Endpoints>(['endpoints'], { ...known, items })
    const isSameList = event.endpoints.map(({ id }) => id).join() === items.map(({ id }) => id).join()
    if (event.isListChanged && !isSameList) this.#readAnew('endpoints')
  }

  #readAnew(name: string): void {
    void this.queries.invalidateQueries({ queryKey: [name] })
  }
}
