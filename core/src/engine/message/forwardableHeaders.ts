import { CONNECTION_FIELDS } from '../words/index.ts'
import { headerValues, type WireHeader } from './capturedRequest.ts'

/** Further fields that describe the route by which a capture came, or that the next hop sets. */
const DROPPED = new Set([...CONNECTION_FIELDS, 'accept-encoding', 'forwarded', 'via', 'x-real-ip'])

const NONE: ReadonlySet<string> = new Set()

/**
 * The captured fields that a forward passes on, in wire order, spelling and bytes: without those of the
 * connection (RFC 9110 §7.6.1) and those that `Connection` names, those of proxies, and our own.
 *
 * @param written names, in lower case, that a rule wrote: they are meant for the receiver and always kept
 */
export function forwardableHeaders(
  captured: readonly WireHeader[],
  written: ReadonlySet<string> = NONE,
): WireHeader[] {
  const named = namedByConnection(captured)
  return captured.filter(([field]) => {
    const name = field.toLowerCase()
    return written.has(name) || !(isDropped(name) || named.has(name))
  })
}

function isDropped(name: string): boolean {
  return (
    DROPPED.has(name) ||
    name.startsWith('creel-') ||
    name.startsWith('proxy-') ||
    name.startsWith('x-forwarded-')
  )
}

/** The fields, in lower case, that `Connection` says belong to it. */
function namedByConnection(captured: readonly WireHeader[]): ReadonlySet<string> {
  const values = headerValues(captured, 'connection')
  // The usual value; `keep-alive` is dropped in any case.
  if (values.every((value) => value === 'keep-alive')) return NONE
  return new Set(values.flatMap((value) => value.split(',').map((token) => token.trim().toLowerCase())))
}
