import type { Plan } from '../plans/index.ts'
import type { Services } from './services.ts'

/** Who calls: the key that was presented, and the workspace that it opens. */
export interface Caller {
  readonly key: { readonly id: string; readonly name: string; readonly prefix: string }
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
  /** The request body as it comes, for routes that take another than JSON. */
  readonly body: AsyncIterable<Uint8Array> | null
}
