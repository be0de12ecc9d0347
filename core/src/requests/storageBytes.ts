/** The least bytes that a request counts in addition to its body: its row and its index entry take about this much. */
const OVERHEAD_BYTES = 1024
/** Bytes that a request counts that is reduced to a trace. */
export const TRACE_STORAGE_BYTES = OVERHEAD_BYTES

/** The parts of a request's row that differ in length. */
export interface StoredParts {
  readonly method: string
  readonly path: string
  readonly queryString: string | null
  readonly headerNames: string
  /** Bytes as a latin1 string. */
  readonly headerValues: string
  readonly contentType: string | null
  readonly ip: string | null
  readonly userAgent: string | null
  readonly label: string | null
  readonly eventId: string | null
  readonly body: Uint8Array
  /** Text of a body that arrived encoded, for searches; null for others. */
  readonly decodedText: string | null
  /** Sealed members of the row; null for one that is stored in plain. */
  readonly sealed: Uint8Array | null
  readonly verdict: string | null
  readonly verdictNote: string | null
  /** JSON of a `Redaction`; null for a request that is stored as it came. */
  readonly redaction: string | null
  /** JSON of the values of the endpoint's columns, by their paths; null without any. */
  readonly columnValues: string | null
  /** The note of people on it, as stored. A capture has none. */
  readonly note: Uint8Array | null
}

/** The texts of {@link StoredParts}. Trailers are among the header fields. */
const TEXTS = [
  'method',
  'path',
  'queryString',
  'headerNames',
  'contentType',
  'ip',
  'userAgent',
  'label',
  'eventId',
  'decodedText',
  'verdict',
  'verdictNote',
  'redaction',
  'columnValues',
] as const

/** The columns of {@link StoredParts}, except body and note, and one that early versions filled. */
const COLUMNS = [...TEXTS, 'headerValues', 'sealed', 'bodyPreview'].map((name) =>
  name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
)

const utf8Length = (text: string | null): number => (text === null ? 0 : Buffer.byteLength(text))

/**
 * Bytes that a request counts against `storedBytesMax` and `CREEL_STORAGE_MAX`: its body and note plus everything else that
 * is stored, which counts at least 1 KiB. The row holds this number (`storage_bytes`), and every removal of the row
 * subtracts it.
 */
export function requestStorageBytes(parts: StoredParts): number {
  let rest = parts.headerValues.length + (parts.sealed?.length ?? 0)
  for (const name of TEXTS) rest += utf8Length(parts[name])
  return parts.body.length + (parts.note?.length ?? 0) + Math.max(OVERHEAD_BYTES, rest)
}

/**
 * SQL of {@link requestStorageBytes} for a row. PostgreSQL knows the lengths without reading values stored outside the
 * row.
 */
export const measuredBytes = (row: string): string =>
  `(octet_length(${row}.body) + coalesce(octet_length(${row}.note), 0) + greatest(${OVERHEAD_BYTES}, ${COLUMNS.map(
    (column) => `coalesce(octet_length(${row}.${column}), 0)`,
  ).join(' + ')}))`

/**
 * SQL for the bytes that a row of `requests` counts. An old row without a stored number counts as its body and 1 KiB,
 * until a sweep has counted it.
 */
export const storageBytesOf = (row: string): string =>
  `coalesce(${row}.storage_bytes, octet_length(${row}.body) + ${OVERHEAD_BYTES})`
