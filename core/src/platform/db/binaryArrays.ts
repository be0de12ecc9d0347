/**
 * Binary encoding of one Postgres type. node-postgres sends a Buffer parameter unchanged, in binary format, so a whole
 * column of a batch is one parameter: a third of the cost of text arrays, and bodies need no escaping.
 */
export interface ItemType<Value> {
  readonly oid: number
  byteLength(value: Value): number
  /** Writes exactly `byteLength(value)` bytes. */
  write(target: Buffer, offset: number, value: Value): void
}

/** `ndim`, `flags`, `elemtype`, then length and lower bound of the one dimension. */
const HEADER_BYTES = 20
const NULL_LENGTH = -1

/**
 * A one-dimensional array in Postgres's binary format (`array_recv`).
 *
 * @param type encoding of one value
 * @param items source of the values
 * @param valueIn returns the value of an item, called once for each; null is SQL's NULL
 */
export function encodeArray<Item, Value>(
  type: ItemType<Value>,
  items: readonly Item[],
  valueIn: (item: Item) => Value | null,
): Buffer {
  const values = items.map(valueIn)
  const sizes = values.map((value) => (value === null ? NULL_LENGTH : type.byteLength(value)))
  const bytes = sizes.reduce((sum, size) => sum + 4 + Math.max(0, size), HEADER_BYTES)
  const target = Buffer.allocUnsafe(bytes)
  target.writeInt32BE(1, 0)
  target.writeInt32BE(1, 4)
  target.writeInt32BE(type.oid, 8)
  target.writeInt32BE(items.length, 12)
  target.writeInt32BE(1, 16)
  let offset = HEADER_BYTES
  for (const [index, value] of values.entries()) {
    const size = sizes[index] ?? NULL_LENGTH
    target.writeInt32BE(size, offset)
    offset += 4
    if (value === null) continue
    type.write(target, offset, value)
    offset += size
  }
  return target
}

/** Encodes PostgreSQL's `bool`. */
export const BOOL: ItemType<boolean> = {
  oid: 16,
  byteLength: () => 1,
  write: (target, offset, value) => void target.writeUInt8(value ? 1 : 0, offset),
}

/** A `bytea`, copied as it is. */
export const BYTEA: ItemType<Uint8Array> = {
  oid: 17,
  byteLength: (value) => value.length,
  write: (target, offset, value) => target.set(value, offset),
}

/** A `bytea` given as a latin1 byte string: one character a byte, as node:http hands header values over. */
export const BYTE_STRING: ItemType<string> = {
  oid: 17,
  byteLength: (value) => value.length,
  write: (target, offset, value) => void target.write(value, offset, 'latin1'),
}

/** An `int4`; a number outside 32 bits with sign throws a RangeError. */
export const INT4: ItemType<number> = {
  oid: 23,
  byteLength: () => 4,
  write: (target, offset, value) => void target.writeInt32BE(value, offset),
}

/** An `int8`; safe integers only. */
export const INT8: ItemType<number> = {
  oid: 20,
  byteLength: () => 8,
  write: writeInt8,
}

/** Text without NUL, which Postgres cannot hold. */
export const TEXT: ItemType<string> = {
  oid: 25,
  byteLength: (value) => Buffer.byteLength(value),
  write: (target, offset, value) => void target.write(value, offset),
}

/** A `uuid` in the canonical form with hyphens, either case. */
export const UUID: ItemType<string> = {
  oid: 2950,
  byteLength: () => 16,
  write: (target, offset, value) => void target.write(value.replaceAll('-', ''), offset, 'hex'),
}

const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1)

/** A `timestamptz`, to the millisecond. */
export const TIMESTAMPTZ: ItemType<Date> = {
  oid: 1184,
  byteLength: () => 8,
  write: (target, offset, value) => writeInt8(target, offset, (value.getTime() - POSTGRES_EPOCH_MS) * 1000),
}

function writeInt8(target: Buffer, offset: number, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  target.writeInt32BE(high, offset)
  target.writeUInt32BE(value - high * 2 ** 32, offset + 4)
}
