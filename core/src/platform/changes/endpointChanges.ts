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
  /**
   * Calls `listener` after every committed change on any endpoint of the service, with its id; with null when any may have
   * changed, which is every few seconds. It must be quick.
   *
   * @returns ends the subscription
   */
  onAny(listener: (endpointId: string | null) => void): () => void
  /**
   * Says that endpoints have changed, once that is committed: this process's listeners are called now, those of others when
   * one NOTIFY for all that was said meanwhile has reached them. It is not part of the transaction, which would hold a lock
   * of the whole database while it waits for the disk; who dies in between leaves the others to their poll.
   */
  announce(endpointIds: readonly string[]): void
}
