import { expect, test } from 'bun:test'
import { QueryClient } from '@tanstack/react-query'
import { WorkspaceCache, type WorkspaceEvent } from './workspaceFeed.ts'

const endpoint = (id: string, storedRequestCount: number): WorkspaceEvent['endpoints'][number] => ({
  id,
  name: id,
  isActive: true,
  expiresAt: null,
  storedRequestCount,
  lastRequestAt: null,
  rejectedCount: 0,
  attentionCount: 0,
})

const event = (members: Partial<WorkspaceEvent>): WorkspaceEvent => ({
  endpoints: [],
  isListChanged: false,
  openIncidentCount: 0,
  alarmedWatchdogCount: 0,
  ...members,
})

function opened() {
  const queries = new QueryClient()
  const read = () => {
    for (const name of ['watchdogs', 'incidents']) queries.setQueryData([name], {})
  }
  read()
  queries.setQueryData(['endpoints'], { items: [{ ...endpoint('b', 0), url: 'u' }, endpoint('a', 0)] })
  const cache = new WorkspaceCache(queries)
  const isStale = (name: string) => queries.getQueryState([name])?.isInvalidated
  return { cache, isStale, read, endpoints: () => queries.getQueryData(['endpoints']) }
}

test('counts change where they stand, and nothing is read for them', () => {
  const { cache, endpoints, isStale } = opened()
  cache.hear(event({ endpoints: [endpoint('b', 1), endpoint('a', 2)], isListChanged: true }))
  cache.hear(event({ endpoints: [endpoint('a', 3)] }))
  expect(endpoints()).toMatchObject({
    items: [
      { id: 'b', storedRequestCount: 1, url: 'u' },
      { id: 'a', storedRequestCount: 3 },
    ],
  })
  expect(isStale('endpoints')).toBe(false)
})

test('an endpoint of the page that was renamed elsewhere is read anew', () => {
  const queries = new QueryClient()
  queries.setQueryData(['endpoint', 'a'], endpoint('a', 0))
  const cache = new WorkspaceCache(queries)
  const isStale = () => queries.getQueryState(['endpoint', 'a'])?.isInvalidated
  cache.hear(event({ endpoints: [endpoint('a', 1), endpoint('b', 0)] }))
  expect(isStale()).toBe(false)
  cache.hear(event({ endpoints: [{ ...endpoint('a', 1), name: 'renamed' }] }))
  expect(isStale()).toBe(true)
})

test('an endpoint that is new or gone, an incident and an alarm have their list read anew', () => {
  const { cache, isStale, read } = opened()
  // Queries that ran before the first event may be older than it.
  cache.hear(event({ endpoints: [endpoint('b', 1), endpoint('a', 2)], isListChanged: true }))
  expect(['endpoints', 'watchdogs', 'incidents'].map(isStale)).toEqual([false, true, true])
  read()
  cache.hear(event({ endpoints: [endpoint('a', 3)] }))
  expect(['endpoints', 'watchdogs', 'incidents'].map(isStale)).toEqual([false, false, false])
  cache.hear(event({ openIncidentCount: 1 }))
  expect(['endpoints', 'watchdogs', 'incidents'].map(isStale)).toEqual([false, false, true])
  cache.hear(event({ openIncidentCount: 1, alarmedWatchdogCount: 1 }))
  cache.hear(event({ endpoints: [endpoint('c', 0)], isListChanged: true }))
  expect(['endpoints', 'watchdogs', 'incidents'].map(isStale)).toEqual([true, true, true])
})
