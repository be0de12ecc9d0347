import { readValue, requestRoot } from '../engine/conditions/index.ts'
import { isCredentialName, MASK } from '../engine/credentials.ts'
import { isJsonNumber, numberText } from '../engine/json/index.ts'
import { type StoredRequestRow, storedRequest } from '../requests/index.ts'
import type { FieldPath } from './filter.ts'
import type { Occurrence } from './schema.ts'

/** Characters of one value, and bytes of all values of an event. */
const FIELD = { characters: 200, bytesOfAll: 8_192 } as const

type Scalar = string | number | boolean | null

/** The event of a captured request. Strangers wrote its values; those that are called like credentials are masked. */
export function occurrenceOf(
  name: string,
  row: StoredRequestRow & { readonly id: number },
  fields: readonly FieldPath[],
): Occurrence {
  const { receivedAt } = row
  return {
    eventId: `req_${row.id}`,
    name,
    timestamp: receivedAt,
    data: {
      requestId: row.id,
      endpoint: row.endpointId,
      label: row.label,
      receivedAt,
      method: row.method,
      verification: row.verdict ?? 'none',
      resource: `creel://endpoints/${row.endpointId}/requests/${row.id}`,
      fields: fieldsOf(row, fields),
    },
    cursor: String(row.id),
  }
}

function fieldsOf(row: StoredRequestRow, fields: readonly FieldPath[]): Record<string, Scalar> {
  const shown: Record<string, Scalar> = {}
  if (fields.length === 0) return shown
  const root = requestRoot(storedRequest(row))
  let bytes = 0
  for (const { text, path } of fields) {
    const value = scalarOf(readValue(root, path))
    if (value === undefined) continue
    const masked = isSecretPath(text) ? MASK : withoutQuery(value)
    bytes += Buffer.byteLength(JSON.stringify([text, masked]))
    if (bytes > FIELD.bytesOfAll) break
    shown[text] = masked
  }
  return shown
}

export function isSecretPath(path: string): boolean {
  return path.split(/[.[\]"]+/).some(isCredentialName)
}

/** Queries of URLs hold credentials as often as not. */
function withoutQuery(value: Scalar): Scalar {
  if (typeof value !== 'string' || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return value
  return value.replace(/\?.*$/s, `?${MASK}`)
}

/** Objects and lists are left out. A number that no double holds is its text: a reader would round it. */
function scalarOf(value: unknown): Scalar | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value
  const text = isJsonNumber(value) ? numberText(value) : value
  if (typeof text !== 'string') return undefined
  return text.length <= FIELD.characters ? text : text.slice(0, FIELD.characters).toWellFormed()
}
