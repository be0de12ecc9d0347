import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { hearStatus, reconnectMs, session } from '../outage.ts'
import { sessionQuery } from '../queries.ts'
import { creel, retryAfterMs, statusOf } from '../trpc.ts'
import { keepDraftsOf } from '../usePersisted.ts'

const RETRIES = 3

/**
 * Caches queries. A call without an answer is retried, and so is one over its budget, after the wait that the service
 * gives; other refusals are shown.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => hearStatus(statusOf(error)) }),
  mutationCache: new MutationCache({ onError: (error) => hearStatus(statusOf(error)) }),
  defaultOptions: {
    // The service may run on this machine, so the browser's network state is irrelevant.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 5_000,
      retry: (failures, error) => {
        const status = statusOf(error)
        return failures < RETRIES && (status === undefined || status === 429)
      },
      retryDelay: (failures, error) => retryAfterMs(error) ?? reconnectMs(failures),
    },
  },
})

/**
 * Whether any call of this page has succeeded. Then a 401 means that the session has ended, else that there was none.
 */
export function hasLoadedAnything(): boolean {
  return queryClient
    .getQueryCache()
    .getAll()
    .some(({ state }) => state.data !== undefined)
}

/** Retries the visible queries that failed, because the service is back. */
export function readFailedAnew(): void {
  void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
}

/**
 * Notes that a stream has ended with an error. An `EventSource` does not say why, so a call finds out whether the service
 * answers, and whether this browser is still signed in.
 */
export function hearStreamError(error: unknown): void {
  const status = statusOf(error)
  hearStatus(status)
  if (status === undefined) void checkSession()
}

/** Goes on with the session that this browser has been given. A page of another workspace is loaded again. */
export async function resume(): Promise<void> {
  const now = await creel.sessions.current.query({}).catch(() => undefined)
  const before = queryClient.getQueryData(sessionQuery.queryKey)
  if (now === undefined) return
  keepDraftsOf(now)
  if (before !== undefined && before.workspace.id !== now.workspace.id) {
    location.assign('/console/')
    return
  }
  session.set('in')
  void queryClient.invalidateQueries()
}

let tabs: BroadcastChannel | undefined

/** Tells the other tabs that this browser has been signed in. */
export const saySignedIn = (): void => tabs?.postMessage(null)

/** Goes on when another tab has signed this browser in, and when a page without a session gets the focus. @returns ends it */
export function followSignIns(): () => void {
  tabs = new BroadcastChannel('creel sign-ins')
  tabs.onmessage = () => void resume()
  const look = () => {
    if (session.get() === 'out' && hasLoadedAnything()) void resume()
  }
  window.addEventListener('focus', look)
  return () => {
    window.removeEventListener('focus', look)
    tabs?.close()
  }
}

/** Asks whether this browser is signed in. @returns the status of a refusal; undefined for none, or without an answer */
export async function checkSession(): Promise<number | undefined> {
  const status = await creel.me.get.query({}).then(() => undefined, statusOf)
  hearStatus(status)
  return status
}
