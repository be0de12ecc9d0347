/**
 * Wakes what waits in this process. Fed by one LISTEN connection and backed by a poll, so that a lost
 * notification delays a waiter but never strands it.
 */
export interface EndpointChanges {
  /**
   * Calls `listener` after every committed change on the endpoint, whichever process made it: a capture, a
   * delivery's new state, other settings, its deletion. A call may come without a change.
   *
   * @returns ends the subscription
   */
  onEndpoint(endpointId: string, listener: () => void): () => void
}
