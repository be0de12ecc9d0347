import type { KeyScope } from '../engine/words/index.ts'
import type { Plan } from '../plans/index.ts'
import { shareOf } from '../platform/db/index.ts'
import type { Actor, Services } from './services.ts'

/** What a signed-in browser may do: what its key may, or what the workspace's owner may. */
export type SessionRole = 'key' | 'owner'

/** The key of a call, without the key itself. */
export interface CallingKey {
  readonly id: string
  readonly name: string
  /** Its first characters, safe to display. */
  readonly prefix: string
  /** When it stops working by itself; null: never. */
  readonly expiresAt: Date | null
}

/** Who calls: the key that was presented or the browser that is signed in, and the workspace that it opens. */
export interface Caller {
  /** Whose budgets and slots the call takes: the session's id, else the key's. */
  readonly callerId: string
  /** The key that was presented, or that the session was made with; null for an owner's session. */
  readonly key: CallingKey | null
  /** Null when a key itself calls. An `owner` came by a sign-in link and may manage keys, contacts and sessions. */
  readonly session: { readonly id: string; readonly role: SessionRole } | null
  /** What the key may; an owner's session may everything. */
  readonly scope: KeyScope
  /** The one endpoint that the caller can see anything of; null: all of the workspace. */
  readonly onlyEndpointId: string | null
  /** Where the call came from, as far as we believe proxies; null where nobody knows. */
  readonly address: string | null
  /** The same as the audit log names it. */
  readonly actor: Actor
  readonly workspace: { readonly id: string; readonly name: string }
  readonly plan: Plan
}

/** What a procedure may reach: the process's services and this one call. */
export interface Context extends Services, Caller {
  /** Aborted when the client hangs up. */
  readonly signal: AbortSignal
  /** 32 hex digits; the same in the answer and in the log. */
  readonly traceId: string
  /** The request body as it was sent, where it was JSON over REST: number spelling and key order survive here only. */
  readonly rawBody: string | null
  /**
   * How many events of a stream may still be on their way to its reader when the next one is asked for: 0 where each is asked for
   * when the one before was taken.
   */
  readonly eventsAhead: number
  /** The request body as it comes, for routes that take another than JSON. */
  readonly body: AsyncIterable<Uint8Array> | null
}

/** What a call brings besides its caller. */
export type CallDetails = Pick<Context, 'signal' | 'traceId' | 'rawBody' | 'body' | 'eventsAhead'>

/** The context of a call: the process's services and the caller, who gets its workspace's share of the database connections. */
export function contextOf(services: Services, caller: Caller, details: CallDetails): Context {
  const shared = (db: Context['db']) => shareOf(db, caller.workspace.id)
  return {
    ...services,
    ...caller,
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
