import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  BOOL,
  BYTE_STRING,
  BYTEA,
  encodeArray,
  INT4,
  INT8,
  type ItemType,
  TEXT,
  TIMESTAMPTZ,
  UUID,
} from './binaryArrays.ts'

/** Decodes the format like Postgres's `array_recv`; null items stay null. */
function itemsOf(array: Buffer): { oid: number; items: (Buffer | null)[] } {
  expect(array.readInt32BE(0)).toBe(1)
  const items: (Buffer | null)[] = []
  let offset = 20
  for (let count = array.readInt32BE(12); count > 0; count -= 1) {
    const length = array.readInt32BE(offset)
    offset += 4
    items.push(length < 0 ? null : array.subarray(offset, offset + length))
    offset += Math.max(0, length)
  }
  expect(offset).toBe(array.length)
  expect(array.readInt32BE(16)).toBe(1)
  return { oid: array.readInt32BE(8), items }
}

function encode<Value>(type: ItemType<Value>, values: readonly (Value | null)[]) {
  const { oid, items } = itemsOf(encodeArray(type, values, (value) => value))
  expect(oid).toBe(type.oid)
  return items
}

const nullable = <Value>(values: fc.Arbitrary<Value>) => fc.array(fc.option(values))

describe('encodeArray', () => {
  const roundTrips = <Value>(
    type: ItemType<Value>,
    values: fc.Arbitrary<Value>,
    read: (item: Buffer) => Value,
  ) =>
    fc.assert(
      fc.property(nullable(values), (list) => {
        expect(encode(type, list).map((item) => (item === null ? null : read(item)))).toEqual(list)
      }),
    )

  test('text', () => {
    roundTrips(TEXT, fc.string({ unit: 'grapheme' }), (item) => item.toString('utf8'))
  })
  test('bytes', () => {
    roundTrips(BYTEA, fc.uint8Array(), (item) => new Uint8Array(item))
  })
  test('byte strings', () => {
    const byteStrings = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1'))
    roundTrips(BYTE_STRING, byteStrings, (item) => item.toString('latin1'))
  })
  test('integers of four bytes', () => {
    roundTrips(INT4, fc.integer(), (item) => item.readInt32BE())
  })
  test('integers of eight bytes, every safe one', () => {
    roundTrips(INT8, fc.maxSafeInteger(), (item) => Number(item.readBigInt64BE()))
  })
  test('booleans', () => {
    roundTrips(BOOL, fc.boolean(), (item) => item[0] === 1)
  })
  test('uuids', () => {
    roundTrips(UUID, fc.uuid(), (item) =>
      item.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    )
  })
  test('timestamps, before and after the Postgres epoch', () => {
    const dates = fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    roundTrips(
      TIMESTAMPTZ,
      dates,
      (item) => new Date(Number(item.readBigInt64BE()) / 1000 + Date.UTC(2000, 0, 1)),
    )
  })
  test('text that is no well-formed UTF-16 gets replacement characters, not wrong lengths', () => {
    expect(encode(TEXT, ['a\ud800b']).map(String)).toEqual(['a\ufffdb'])
  })
})
