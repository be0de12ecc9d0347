import { type DataKeyRef, sealBody, sealMembers, sealNote } from '../platform/secrets/index.ts'
import { bodyPreview } from './bodyPreview.ts'
import { requestStorageBytes, type StoredParts } from './storageBytes.ts'

/** The data key of an endpoint, opened. Never to be logged. */
export interface Sealing extends DataKeyRef {
  readonly key: Buffer
}

type PlainRow = StoredParts & {
  readonly bodyIsBinary: boolean
  /** Stored by early versions. */
  readonly bodyPreview?: string | null
  readonly storageBytes: number
}

/**
 * Seals the content of a row: path, query, header values, body, and what repeats them. Method, names of headers, label,
 * event id, address, sizes and verdict stay in plain: lists filter by them.
 */
export function sealedRow<Row extends PlainRow>({ id, key }: Pick<Sealing, 'id' | 'key'>, row: Row) {
  const { path, queryString, contentType, userAgent, bodyIsBinary } = row
  const headerValues = Buffer.from(row.headerValues, 'latin1')
  const members = {
    path,
    queryString,
    headerValues,
    contentType,
    userAgent,
    bodyPreview: row.bodyPreview ?? bodyPreview(row),
    bodyIsBinary,
  }
  const sealed = sealMembers(key, members)
  const stored = {
    ...row,
    path: '',
    queryString: null,
    headerValues: '',
    contentType: null,
    userAgent: null,
    decodedText: null,
    columnValues: null,
    // Searches do not read binary bodies.
    bodyIsBinary: true,
    body: row.body.length === 0 ? row.body : sealBody(key, row.body, sealed),
    note: row.note && sealNote(key, row.note, sealed),
    sealedWith: id,
    sealed,
  }
  return { ...stored, storageBytes: requestStorageBytes(stored) }
}
