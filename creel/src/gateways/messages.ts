import type { ProcessMetrics } from '@creel/core/platform/metrics'
import type { CountReport, CountTotal } from '@creel/gateway'
import type { ProcessStates } from '../service/index.ts'

/** Settings of a further gateway process that its own environment does not tell. */
export interface MemberSettings {
  /** Of the first process: another version has another database. */
  readonly version: string
  readonly processes: number
  readonly port: number
  readonly storageMaxBytes: number | null
}

/** From the first process to another. An answer of null is a failure. */
export type ToMember =
  | { readonly kind: 'start'; readonly settings: MemberSettings }
  | { readonly kind: 'stop' }
  | { readonly kind: 'totals'; readonly totals: readonly CountTotal[] }
  | { readonly kind: 'ask'; readonly id: number; readonly about: 'metrics' | 'readiness' }
  | { readonly kind: 'metrics'; readonly id: number; readonly answer: string | null }
  | { readonly kind: 'states'; readonly id: number; readonly answer: ProcessStates | null }

/** From another process to the first. */
export type FromMember =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'reports'; readonly reports: readonly CountReport[] }
  | { readonly kind: 'ask'; readonly id: number; readonly about: 'metrics' | 'states' }
  | { readonly kind: 'metrics'; readonly id: number; readonly answer: ProcessMetrics | null }
  | { readonly kind: 'readiness'; readonly id: number; readonly answer: boolean | null }
  /** The last message of a process that has drained. */
  | { readonly kind: 'ended'; readonly metrics: ProcessMetrics }

/** Whether a message has the form of ours: both processes run the same program, so its kind tells the rest. */
export function isMessage<Message extends ToMember | FromMember>(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'kind' in message
}
