import type { RequestDetail } from '../api/shapes.ts'
import type { LocalAnswer } from './localSender.ts'

/** What a listener shows at its start. */
export interface ListenerFacts {
  readonly endpointName: string
  readonly captureUrl: string
  /** Null for one that only looks. */
  readonly target: string | null
  /** In words: `now`, `where it stopped`, `#12`. */
  readonly from: string
  /** How many requests wait already. */
  readonly behind: number
}

/** How it stands between the service, the listener and the local server. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'reconnecting'; readonly since: number; readonly reason: string }
  /** Connected, but the local port has no server. */
  | { readonly kind: 'held'; readonly since: number; readonly reason: string }

/** One captured request as it was handled. */
export interface Shown {
  readonly request: RequestDetail
  /** Null where it was not sent: nothing is sent, or the body was too long to be kept. */
  readonly answer: LocalAnswer | null
  /** Set where it is not the capture itself but a replay. */
  readonly replayId?: number
  /** Why it was not sent, in words. */
  readonly note?: string
}

/** Where a listener shows what happens: plain lines, JSON lines, or a screen. */
export interface ListenView {
  started(facts: ListenerFacts): void
  /** The state has changed; or it has lasted, and `lasting` says so. */
  link(state: LinkState, details: { readonly behind: number; readonly lasting: boolean }): void
  shown(item: Shown): void
  /** So many requests wait now; for views that show it all the time. */
  progress?(behind: number): void
  /** A word to the user beside the list. */
  note(text: string): void
  /** The listener has stopped; `waiting` requests have not been sent. */
  stopped(details: { readonly done: number }): void
}
