import { createHash } from 'node:crypto'
import { type Path, parsePath, type ReadRoot, readValue } from '../../engine/conditions/index.ts'
import { writeJson } from '../../engine/json/index.ts'
import { ORDER_BY_ENDPOINT, storedPolicy } from '../policy.ts'

/** Order key of every delivery of an action that is ordered by `endpoint`. */
const ENDPOINT_KEY = 'endpoint'
/** A key of more characters is stored as its digest. */
export const ORDER_KEY_CHARACTERS_MAX = 200

/** Reads the order key of a request. A request without a key (null) waits for no other. */
export type OrderKeyOf = (root: ReadRoot) => string | null

/** Makes the reader of an action's order keys; null for an action without an order. */
export function orderKeyReader(policyText: string | null): OrderKeyOf | null {
  const by = storedPolicy(policyText).order?.by
  if (by === undefined) return null
  if (by === ORDER_BY_ENDPOINT) return () => ENDPOINT_KEY
  const parsed = parsePath(by, { every: false, deliveryFacts: false })
  return 'path' in parsed ? (root) => keyAt(root, parsed.path) : null
}

function keyAt(root: ReadRoot, path: Path): string | null {
  const value = readValue(root, path)
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? value : writeJson(value)
  // PostgreSQL's text holds no NUL.
  const isStorable = text.length <= ORDER_KEY_CHARACTERS_MAX && !text.includes('\0')
  return isStorable ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`
}
