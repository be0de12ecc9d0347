import { randomBytes } from 'node:crypto'
import { sql, type UnknownRow } from 'kysely'
import type { Logger } from 'pino'
import { openBytes, SEAL_BYTES, sealBytes } from './gcm.ts'
import type { SecretBox } from './secretBox.ts'

/** A data key of an endpoint, as rows name it: its id, and the key as it is stored, bound to its workspace. */
export interface DataKeyRef {
  readonly id: string
  /** See {@link sealedKeyOf}. */
  readonly sealedKey: Buffer
}

/** Members of a row that are sealed. */
export interface SealedMembers {
  readonly sealedWith: string
  readonly sealed: Buffer
}

type Member = string | number | boolean | null | Uint8Array

/**
 * SQL of the columns by which the members of a sealed row are opened when it is read: every statement that reads a
 * sealed member selects them. `sealed_key` is null if the key is gone.
 *
 * @param row alias of a row with `sealed_with` and `sealed`
 */
export const sealedColumns = (row: string): string =>
  `${row}.sealed_with, ${row}.sealed, creel_keys.data_key(${row}.sealed_with) as sealed_key`

/** {@link sealedColumns} for queries of Kysely. */
export const sealedMembers = (row: string) =>
  [
    sql.raw<string | null>(`${row}.sealed_with`).as('sealedWith'),
    sql.raw<Buffer | null>(`${row}.sealed`).as('sealed'),
    sql.raw<Buffer | null>(`creel_keys.data_key(${row}.sealed_with)`).as('sealedKey'),
  ] as const

/** Octets of a body that are sealed together: a part of a body is read, and opened, with no more than their rest. */
const SEGMENT_BYTES = 64 * 1024
const SEALED_SEGMENT_BYTES = SEGMENT_BYTES + SEAL_BYTES

const segmentsOf = (row: string) =>
  `((octet_length(${row}.body) + ${SEALED_SEGMENT_BYTES - 1}) / ${SEALED_SEGMENT_BYTES})`

/** SQL of the length of the body of a row of `requests`, as it was captured. */
export const bodyBytesOf = (row: string): string =>
  `(octet_length(${row}.body) - case when ${row}.sealed_with is null then 0 else ${SEAL_BYTES} * ${segmentsOf(row)} end)`

/**
 * SQL of a part of the body of a sealed row, `body` or `sealed_body` of its reader, which is opened with the columns of
 * {@link partColumns}: the segments with the octets `from`, counted from 0, and the following.
 */
export const sealedPart = (row: string, from: string, bytes: string): string =>
  `substring(${row}.body from ${from} / ${SEGMENT_BYTES} * ${SEALED_SEGMENT_BYTES} + 1
    for ((${from} + ${bytes} - 1) / ${SEGMENT_BYTES} - ${from} / ${SEGMENT_BYTES} + 1) * ${SEALED_SEGMENT_BYTES})`

/** See {@link sealedPart}. */
export const partColumns = (row: string, from: string, bytes: string): string =>
  `${from} as part_from, ${bytes} as part_bytes, ${segmentsOf(row)} as segments`

const WORKSPACE_BYTES = 16

/** A data key as `creel_keys.data_key` returns it: the id of its workspace, and the key, sealed for that. */
export function sealedKeyOf(workspaceId: string, sealed: Buffer): Buffer {
  return Buffer.concat([Buffer.from(workspaceId.replaceAll('-', ''), 'hex'), sealed])
}

/** Opens a data key. @throws Error when no key of this process sealed it */
export function openDataKey(secrets: Pick<SecretBox, 'open'>, sealedKey: Buffer): Buffer {
  const hex = sealedKey.toString('hex', 0, WORKSPACE_BYTES)
  const workspaceId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return Buffer.from(secrets.open(sealedKey.subarray(WORKSPACE_BYTES), workspaceId), 'base64')
}

const LENGTH_BYTES = 4

/** Seals members of a row, under the names that its readers give them. */
export function sealMembers(key: Uint8Array, members: Readonly<Record<string, Member>>): Buffer {
  const parts: Uint8Array[] = []
  const texts: Record<string, Exclude<Member, Uint8Array> | { readonly bytes: number }> = {}
  for (const [name, value] of Object.entries(members)) {
    if (value instanceof Uint8Array) parts.push(value)
    texts[name] = value instanceof Uint8Array ? { bytes: value.length } : value
  }
  const head = Buffer.from(JSON.stringify(texts))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  return sealBytes(key, Buffer.concat([length, head, ...parts]))
}

/** Columns of a row that is stored in plain. */
const PLAIN = { sealedWith: null, sealed: null } as const

/** Columns by which a row that was read names its key; see {@link sealedColumns}. */
export interface KeyOfRow {
  readonly sealedWith: string | null
  readonly sealedKey: Buffer | null
}

/** The key that sealed a row that was read, for rows that repeat its content; null if it is in plain, or the key is gone. */
export function keyOfRow({ sealedWith, sealedKey }: KeyOfRow): DataKeyRef | null {
  return sealedWith === null || sealedKey === null ? null : { id: sealedWith, sealedKey }
}

/** Columns of a row that repeats the content of a request: its members, sealed with the key of the request, if it has one. */
export function sealedAs(
  secrets: Pick<SecretBox, 'open'>,
  ref: DataKeyRef | null,
  members: Readonly<Record<string, Member>>,
): SealedMembers | typeof PLAIN {
  if (ref === null) return PLAIN
  return { sealedWith: ref.id, sealed: sealMembers(openDataKey(secrets, ref.sealedKey), members) }
}

function openMembers(key: Uint8Array, sealed: Uint8Array): Readonly<Record<string, Member>> {
  const bytes = openBytes(key, sealed)
  let at = LENGTH_BYTES + bytes.readUInt32BE(0)
  const members: Record<string, Exclude<Member, Uint8Array> | { readonly bytes: number }> = JSON.parse(
    bytes.toString('utf8', LENGTH_BYTES, at),
  )
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      if (value === null || typeof value !== 'object') return [name, value]
      const part = bytes.subarray(at, at + value.bytes)
      at += value.bytes
      return [name, part]
    }),
  )
}

/** Seals the body of a row apart from its other members, to which it is bound, in segments: one a step. */
export function* sealBodyInSteps(
  key: Uint8Array,
  body: Uint8Array,
  sealed: Uint8Array,
): Generator<void, Buffer> {
  const count = Math.ceil(body.length / SEGMENT_BYTES)
  const segments = Buffer.allocUnsafe(body.length + count * SEAL_BYTES)
  for (let index = 0; index < count; index += 1) {
    const from = index * SEGMENT_BYTES
    const binding = bindingOf(sealed, index, index === count - 1)
    const segment = sealBytes(key, body.subarray(from, from + SEGMENT_BYTES), binding)
    segments.set(segment, from + index * SEAL_BYTES)
    yield
  }
  return segments
}

/** Nonce and tag of the sealed members, which no other row has, and the place of the segment: none can be moved, or cut off. */
function bindingOf(sealed: Uint8Array, segment: number, isLast: boolean): Buffer {
  const place = Buffer.alloc(PLACE_BYTES)
  place.writeUInt32BE(segment)
  place.writeUInt8(Number(isLast), PLACE_BYTES - 1)
  return Buffer.concat([sealed.subarray(0, SEAL_BYTES), place])
}

/** Seals the note of a row, which may change without the rest, and which is bound to the members as the body is. */
export function sealNote(key: Uint8Array, note: Uint8Array, sealed: Uint8Array): Buffer {
  return sealBytes(key, note, noteBinding(sealed))
}

const noteBinding = (sealed: Uint8Array) =>
  Buffer.concat([sealed.subarray(0, SEAL_BYTES), Buffer.from('note')])

/** A number of four bytes, and one byte that says whether the segment is the last. */
const PLACE_BYTES = 5

/** Opens the body of a row, or the part that its columns name ({@link sealedPart}). */
function openBody(key: Uint8Array, body: Buffer, sealed: Buffer, row: UnknownRow): Buffer {
  const { partFrom: from = 0, partBytes = body.length, segments } = row
  if (typeof from !== 'number' || typeof partBytes !== 'number') throw new TypeError('not a part of a body')
  const first = Math.floor(from / SEGMENT_BYTES)
  const last = (typeof segments === 'number' ? segments : Math.ceil(body.length / SEALED_SEGMENT_BYTES)) - 1
  const opened: Buffer[] = []
  for (let at = 0; at < body.length; at += SEALED_SEGMENT_BYTES) {
    const segment = first + opened.length
    const binding = bindingOf(sealed, segment, segment === last)
    opened.push(openBytes(key, body.subarray(at, at + SEALED_SEGMENT_BYTES), binding))
  }
  const [only = Buffer.alloc(0)] = opened
  const skipped = from - first * SEGMENT_BYTES
  return (opened.length > 1 ? Buffer.concat(opened) : only).subarray(skipped, skipped + partBytes)
}

/** Whether the content of a row is gone for ever, because its key is. */
export function isShredded({ sealedWith, sealedKey }: KeyOfRow): boolean {
  return sealedWith !== null && sealedKey === null
}

/** Members that hold a sealed body; `body` may be a part of the sealed members instead. */
const BODIES = ['body', 'sealedBody'] as const

/**
 * Opens rows of one result, which all have the same columns, in place. Rows whose key is gone, or is sealed with
 * another key of the installation, lose what was sealed, and their `sealedKey` becomes null. So do rows that were
 * altered, which are logged: one of them must not fail a statement that reads the rows of many tenants.
 */
export const openingRows =
  ({ secrets, log }: { readonly secrets: Pick<SecretBox, 'open'>; readonly log: Pick<Logger, 'error'> }) =>
  (rows: readonly UnknownRow[]): void => {
    const [first] = rows
    if (first === undefined || !('sealedWith' in first)) return
    const keys = new Map<string, Buffer | null>()
    for (const row of rows) {
      const { id, sealedWith, sealedKey, sealed } = row
      if (typeof sealedWith !== 'string' || !Buffer.isBuffer(sealed)) continue
      const known = keys.get(sealedWith)
      const key = known === undefined ? keyOf(secrets, sealedKey) : known
      keys.set(sealedWith, key)
      const members = key === null ? null : opened(key, sealed, row)
      if (members === undefined)
        log.error({ id, sealedWith }, 'a sealed row was altered: it is read as shredded')
      if (members) Object.assign(row, members)
      else forget(row)
    }
  }

function keyOf(secrets: Pick<SecretBox, 'open'>, sealedKey: unknown): Buffer | null {
  if (!Buffer.isBuffer(sealedKey)) return null
  try {
    return openDataKey(secrets, sealedKey)
  } catch {
    return null
  }
}

/** The sealed members that a row selects; undefined if the row was altered. */
function opened(key: Buffer, sealed: Buffer, row: UnknownRow): UnknownRow | undefined {
  try {
    const members = openMembers(key, sealed)
    const selected: UnknownRow = {}
    for (const name of Object.keys(members)) if (name in row) selected[name] = members[name]
    for (const name of BODIES) {
      const body = row[name]
      if (!(name in members) && Buffer.isBuffer(body) && body.length > 0)
        selected[name] = openBody(key, body, sealed, row)
    }
    if (Buffer.isBuffer(row.note)) selected.note = openBytes(key, row.note, noteBinding(sealed))
    return selected
  } catch {
    return undefined
  }
}

function forget(row: UnknownRow): void {
  row.sealedKey = null
  if (Buffer.isBuffer(row.note)) row.note = null
  for (const name of BODIES) if (Buffer.isBuffer(row[name])) row[name] = Buffer.alloc(0)
}

const KEY_BYTES = 32

/** A new random key for {@link sealBytes}. */
export function newDataKey(): Buffer {
  return randomBytes(KEY_BYTES)
}
