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
