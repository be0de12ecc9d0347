import type { CapturedRequest, WholeRequest } from 'creel-client'
import type { LocalAnswer } from './localSender.ts'

/** Start position of a listener that continues after its last stop. */
export const RESUMED = 'where it stopped'

export interface ListenerFacts {
  readonly endpointName: string
  readonly captureUrl: string
  /** Null for a viewer, which sends nothing. */
  readonly target: string | null
  /** Start position as text: `now`, {@link RESUMED}, `#12`. */
  readonly from: string
  /** Number of requests that are waiting already. */
  readonly behind: number
}

/** State of the connections to the service and to the local server. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'reconnecting'; readonly since: number; readonly reason: string }
  /** Connected, but the local port has no server. */
  | { readonly kind: 'held'; readonly since: number; readonly reason: string }

export interface Shown {
  readonly request: WholeRequest & { readonly decodedBody?: CapturedRequest['decodedBody'] }
  /** Null if it was not sent: the listener is a viewer, or the request is not stored whole. */
  readonly answer: LocalAnswer | null
  /** Set for a replay. */
  readonly replayId?: number
  /** Why it was not sent, as text. */
  readonly note?: string | undefined
}

/** Output of a listener: plain lines, JSON lines, or a full screen. */
export interface ListenView {
  started(facts: ListenerFacts): void
  /** Reports a changed state, or with `lasting` an unchanged one. */
  link(state: LinkState, details: { readonly behind: number; readonly lasting: boolean }): void
  shown(item: Shown): void
  /** Reports the number of waiting requests, for views that always show it. */
  progress?(behind: number): void
  /** Shows a message outside of the list. */
  note(text: string): void
  /** The listener has stopped after this request, where the next start resumes if the position is saved. */
  stopped(details: { readonly done: number; readonly isSaved: boolean }): void
}
