import {
  BOOL,
  BYTE_STRING,
  BYTEA,
  encodeArray,
  INT4,
  INT8,
  type ItemType,
  type MessageBuffer,
  TEXT,
  TIMESTAMPTZ,
  UUID,
} from '../platform/db/index.ts'
import type { CaptureRow, NewCapture } from './captureRow.ts'

interface Column {
  readonly name: string
  /** SQL type. */
  readonly type: string
  /** Encodes the column of a whole batch as one parameter. */
  readonly array: (captures: readonly NewCapture[]) => Buffer
  readonly write: (buffer: MessageBuffer, capture: NewCapture) => void
}

function column<Value>(
  name: string,
  type: string,
  item: ItemType<Value>,
  read: (row: CaptureRow, capture: NewCapture) => Value | null,
): Column {
  return {
    name,
    type,
    array: (captures) => encodeArray(item, captures, (capture) => read(capture.row, capture)),
    write: (buffer, capture) => void buffer.value(item, read(capture.row, capture)),
  }
}

/**
 * The columns of `requests` that a capture fills, in the order of all statements that insert. PostgreSQL draws the id.
 */
export const REQUEST_COLUMNS: readonly Column[] = [
  column('endpoint_id', 'uuid', UUID, (row) => row.endpointId),
  column('received_at', 'timestamptz', TIMESTAMPTZ, (row) => row.receivedAt),
  column('method', 'text', TEXT, (row) => row.method),
  column('path', 'text', TEXT, (row) => row.path),
  column('query_string', 'text', TEXT, (row) => row.queryString),
  column('header_names', 'text', TEXT, (row) => row.headerNames),
  column('header_values', 'bytea', BYTE_STRING, (row) => row.headerValues),
  column('content_type', 'text', TEXT, (row) => row.contentType),
  column('size_bytes', 'bigint', INT8, (row) => row.sizeBytes),
  column('ip', 'text', TEXT, (row) => row.ip),
  column('user_agent', 'text', TEXT, (row) => row.userAgent),
  column('label', 'text', TEXT, (row) => row.label),
  column('event_id', 'text', TEXT, (row) => row.eventId),
  column('body', 'bytea', BYTEA, (row) => row.body),
  column('body_truncated', 'boolean', BOOL, (row) => row.bodyTruncated),
  column('body_is_binary', 'boolean', BOOL, (row) => row.bodyIsBinary),
  column('decoded_text', 'text', TEXT, (row) => row.decodedText),
  column('verdict', 'text', TEXT, (row) => row.verdict),
  column('verdict_note', 'text', TEXT, (row) => row.verdictNote),
  column('dispatch_state', 'text', TEXT, (_row, { dispatchState }) => dispatchState),
  column('redaction', 'text', TEXT, (row) => row.redaction),
  column('column_values', 'text', TEXT, (row) => row.columnValues),
  column('sealed_with', 'uuid', UUID, (row) => row.sealedWith),
  column('sealed', 'bytea', BYTEA, (row) => row.sealed),
  column('storage_bytes', 'integer', INT4, (row) => row.storageBytes),
]

/** SQL list of the names of {@link REQUEST_COLUMNS}. */
export const COLUMN_NAMES = REQUEST_COLUMNS.map(({ name }) => name).join(', ')
