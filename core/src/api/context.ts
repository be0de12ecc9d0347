import { initTRPC } from '@trpc/server'
import type { SentJson } from '../engine/json/index.ts'
import type { KeyScope } from '../engine/words/index.ts'
import type { Plan } from '../plans/index.ts'
import { shareOf } from '../platform/db/index.ts'
import type { Actor, Services } from './services.ts'

/** Role of a signed-in browser: the rights of its key, or those of the workspace's owner. */
export type SessionRole = 'key' | 'owner'

export interface CallingKey {
  readonly id: string
  readonly name: string
  /** Its first characters, safe to display. */
  readonly prefix: string
  readonly expiresAt: Date | null
}

/** The caller: the presented key or the signed-in browser, and its workspace. */
export interface Caller {
  /** Owner of the call's budgets and slots: the session's id, else the key's. */
  readonly callerId: string
  /** The key that was presented, or that the session was created with; null for an owner's session. */
  readonly key: CallingKey | null
  /**
   * Null when a key itself calls. The role `owner` comes from a sign-in link and may manage keys, contacts and
   * sessions.
   */
  readonly session: { readonly id: string; readonly role: SessionRole } | null
  /** Scope of the key; an owner's session may do everything. */
  readonly scope: KeyScope
  /** The only endpoint that is visible to the caller; null: all of the workspace. */
  readonly onlyEndpointId: string | null
  /** Address of the call, taken from trusted proxies; null when unknown. */
  readonly address: string | null
  /** The caller in the form of the audit log. */
  readonly actor: Actor
  readonly workspace: { readonly id: string; readonly name: string }
  readonly plan: Plan
}

/** Context of a procedure: the services of the process, and this call. */
export interface Context extends Services, Caller {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** 32 hex digits; the same in the answer and in the log. */
  readonly traceId: string
  /** The body as it was sent, if it was JSON. Only this preserves number spelling and key order. */
  readonly rawBody: SentJson | null
  /** The body of a tRPC request, from which each call takes its own `rawBody`: that of a batch has a member for each. */
  readonly calls: { readonly sent: SentJson; readonly isBatch: boolean } | null
  /**
   * Events of a stream that may be buffered on their way to the reader when the next one is requested: 0 if each is
   * requested only after the one before was read.
   */
  readonly eventsAhead: number
  /** Counts the octets of long bodies in the answer, which the procedures of a batch share. Starts at 0. */
  readonly longBodies: { bytes: number }
  /** The unread request body, for routes that take another type than JSON. */
  readonly body: AsyncIterable<Uint8Array> | null
}

/**
 * Limits a list to what a caller may see: rows of its workspace, or of the only endpoint of its key, that have not
 * expired at `now`.
 */
export interface Viewer {
  readonly workspaceId: string
  readonly onlyEndpointId: string | null
  readonly now: Date
}

export const viewerOf = ({ clock, onlyEndpointId, workspace }: Context): Viewer => ({
  workspaceId: workspace.id,
  onlyEndpointId,
  now: clock.now(),
})

/** The part of the context that belongs to the call but not to the caller. Without more there is no body. */
type CallDetails = Pick<Context, 'signal' | 'traceId'> &
  Partial<Pick<Context, 'rawBody' | 'calls' | 'body' | 'eventsAhead' | 'longBodies'>>

/** Builds the context of a call: services and caller, with the workspace's share of the database connections. */
export function contextOf(services: Services, caller: Caller, details: CallDetails): Context {
  const shared = (db: Context['db']) => shareOf(db, caller.workspace.id)
  return {
    ...services,
    ...caller,
    rawBody: null,
    calls: null,
    body: null,
    eventsAhead: 0,
    longBodies: { bytes: 0 },
    ...details,
    db: shared(services.db),
    searches: shared(services.searches),
    reads: {
      run: (read) =>
        services.reads.run(({ db, searches }) => read({ db: shared(db), searches: shared(searches) })),
      state: () => services.reads.state(),
    },
  }
}

/**
 * Procedures of the operator: workspaces, keys, contacts, purge. They take no API key and can be called only in
 * process, by the `creel` command: no gateway mounts this router.
 */
const t = initTRPC.context<Services>().create()

/** A procedure without authentication or rate limit, for operator routers only. */
export const operatorProcedure = t.procedure
export const operatorRouterOf = t.router
/** Merges operator routers into one flat router; their procedures must have different names. */
export const mergeOperatorRouters = t.mergeRouters
/** Creates a function that calls the procedures of an operator router in process. */
export const createOperatorCallerFactory = t.createCallerFactory
