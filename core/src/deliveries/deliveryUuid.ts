import { uuidV5 } from '../engine/uuidV5.ts'

/** Namespace of our version-5 ids. It is random and must never change: receivers deduplicate by these ids. */
const NAMESPACE = Buffer.from('5f0b3c1e9a6d4b7a8e21c4d07f93ab56', 'hex')

/**
 * The id of a request's delivery through an action. It is a version-5 UUID over the two, and so the same on every
 * attempt and every replay.
 */
export function deliveryUuid(requestId: number, actionId: string): string {
  return uuidV5(NAMESPACE, `${requestId}/${actionId}`)
}
