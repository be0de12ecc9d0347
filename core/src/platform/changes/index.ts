import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { FINDING_LOST, run, serverOf, statement, type Trx } from '../db/index.ts'
import { backoffMs, within } from '../time/index.ts'

/**
 * Wakes waiters in this process. Notifications come over one LISTEN connection. A poll backs it up, so that a lost
 * notification only delays a waiter.
 */
export interface EndpointChanges {
  /**
   * Calls `listener` after every committed change on the endpoint, whichever process made it: a capture, a
   * delivery's new state, other settings, its deletion. A call may come without a change.
   *
   * @returns ends the subscription
   */
  onEndpoint(endpointId: string, listener: () => void): () => void
  /**
   * Calls `listener` after every committed change on any endpoint of the service, with its id. Every few seconds it is
   * called with null: any endpoint may have changed. The listener must be quick.
   *
   * @returns ends the subscription
   */
  onAny(listener: (endpointId: string | null) => void): () => void
  /**
   * Announces committed changes of endpoints. The listeners of this process are called now; other processes get one
   * NOTIFY for all changes of some milliseconds. It is not part of the transaction, which would hold a lock of the
   * whole database while it waits for the disk. If this process dies before the NOTIFY, the other processes find the
   * change by polling.
   */
  announce(endpointIds: readonly string[]): void
}

/**
 * Changes of an endpoint. `next` resolves at once if one came since its last call, when `ended` aborts, or after
 * `longestMs`.
 */
export function changesOf(
  { endpointChanges }: { readonly endpointChanges: EndpointChanges },
  endpointId: string,
  ended: AbortSignal,
) {
  let changed = ended.aborted
  let wake: () => void = () => {}
  const notice = () => {
    changed = true
    wake()
  }
  const stop = endpointChanges.onEndpoint(endpointId, notice)
  ended.addEventListener('abort', notice, { once: true })
  return {
    stop,
    async next(longestMs?: number): Promise<void> {
      let timer: ReturnType<typeof setTimeout> | undefined
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (longestMs !== undefined) timer = setTimeout(resolve, longestMs)
        })
      }
      clearTimeout(timer)
      changed = ended.aborted
    },
  }
}

/** Channel for notifications of endpoint changes; the payload is the endpoint's id. */
const ENDPOINT_CHANNEL = 'creel_endpoints'

/** `$1`: the ids of endpoints. */
const ANNOUNCE = statement(
  'announce endpoints',
  `select pg_notify('${ENDPOINT_CHANNEL}', id) from unnest($1::text[]) as id`,
)

/** Notifies every process of a change to these endpoints, once the transaction commits. */
export async function announceEndpointChange(trx: Trx, ...endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await run(trx, ANNOUNCE, [[...new Set(endpointIds)]])
}

/** Interval at which all listeners are called in any case, since a notification can be lost with its connection. */
const POLL_MILLISECONDS = 5_000
/** Least interval between notifications to other processes. */
const NOTIFY_MILLISECONDS = 10
/** Without an answer for this time the connection is lost: its packets may vanish without an error. */
const ANSWER_MILLISECONDS = 5_000
const RECONNECT_MILLISECONDS = { first: 100, max: 5_000 } as const

/** Change notifications of a process, until they are stopped. */
export interface RunningEndpointChanges extends EndpointChanges {
  /** Ends the connection; listeners are not called any more. */
  stop(): Promise<void>
}

/**
 * Listens on one connection of its own, which is reopened whenever it is lost. After a gap all listeners are called,
 * since notifications may have been missed.
 *
 * @param url the database; must reach Postgres with session state, so not through a transaction pooler
 */
export function startEndpointChanges(url: string, log: Pick<Logger, 'warn'>): RunningEndpointChanges {
  const listeners = new Map<string, Set<() => void>>()
  const ofAny = new Set<(endpointId: string | null) => void>()
  const wake = (endpointId: string) => {
    for (const listener of [...(listeners.get(endpointId) ?? [])]) listener()
    for (const listener of ofAny) listener(endpointId)
  }
  const wakeAll = () => {
    for (const ofEndpoint of [...listeners.values()]) for (const listener of [...ofEndpoint]) listener()
    for (const listener of ofAny) listener(null)
  }
  const connection = keepListening(url, { onNotification: wake, onConnected: wakeAll, log })
  let unsaid = new Set<string>()
  let notifying: Promise<void> | undefined
  const notifyOthers = async () => {
    while (unsaid.size > 0) {
      const endpointIds = [...unsaid]
      unsaid = new Set()
      await connection.notify(endpointIds)
      await sleep(NOTIFY_MILLISECONDS, undefined, { ref: false })
    }
    notifying = undefined
  }
  const poll = setInterval(wakeAll, POLL_MILLISECONDS)
  poll.unref()
  return {
    onEndpoint(endpointId, listener) {
      const ofEndpoint = listeners.get(endpointId) ?? new Set()
      listeners.set(endpointId, ofEndpoint.add(listener))
      return () => {
        ofEndpoint.delete(listener)
        if (ofEndpoint.size === 0 && listeners.get(endpointId) === ofEndpoint) listeners.delete(endpointId)
      }
    },
    onAny(listener) {
      ofAny.add(listener)
      return () => ofAny.delete(listener)
    },
    announce(endpointIds) {
      for (const endpointId of endpointIds) unsaid.add(endpointId)
      for (const endpointId of new Set(endpointIds)) wake(endpointId)
      // With nothing to say it would end at once, and be taken for one that is under way.
      if (unsaid.size > 0) notifying ??= notifyOthers()
    },
    async stop() {
      clearInterval(poll)
      listeners.clear()
      ofAny.clear()
      await notifying
      await connection.stop()
    },
  }
}

interface Listening {
  readonly onNotification: (payload: string) => void
  readonly onConnected: () => void
  readonly log: Pick<Logger, 'warn'>
}

function keepListening(url: string, { onNotification, onConnected, log }: Listening) {
  let client: pg.Client | undefined
  let loseClient: (error?: Error) => void = () => undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  const connect = async (failures: number): Promise<void> => {
    const next = new pg.Client({
      ...serverOf(url),
      application_name: 'creel-endpointChanges',
      ...FINDING_LOST,
      connectionTimeoutMillis: ANSWER_MILLISECONDS,
      query_timeout: ANSWER_MILLISECONDS,
    })
    client = next
    let lost = false
    const lose = (error?: Error) => {
      if (lost || stopped) return
      lost = true
      log.warn({ err: error }, 'the wake-up connection was lost: waiters poll until it is back')
      next.end().catch(() => undefined)
      const wait = backoffMs(RECONNECT_MILLISECONDS, failures)
      retry = setTimeout(() => void connect(failures + 1), wait)
    }
    loseClient = lose
    next.on('error', lose)
    next.on('end', () => lose())
    let backend: number | undefined
    // For our own notifications the listeners of this process were called by `announce`.
    next.on('notification', ({ payload, processId }) => {
      if (processId !== backend) onNotification(payload ?? '')
    })
    try {
      await next.connect()
      const { rows } = await next.query<{ pid: number }>('select pg_backend_pid() as pid')
      backend = rows[0]?.pid
      await next.query(`LISTEN ${ENDPOINT_CHANNEL}`)
      failures = 0
      onConnected()
    } catch (error) {
      lose(error instanceof Error ? error : undefined)
    }
  }

  void connect(0)
  return {
    /** Notifies the other processes. While the connection is lost, they find changes by polling. */
    async notify(endpointIds: readonly string[]) {
      await client?.query({ name: 'notify', text: ANNOUNCE.text, values: [endpointIds] }).catch(loseClient)
    },
    async stop() {
      stopped = true
      clearTimeout(retry)
      // An end that gets no answer would wait for ever.
      if (client !== undefined)
        await within(
          client.end().catch(() => undefined),
          ANSWER_MILLISECONDS,
        )
    },
  }
}
