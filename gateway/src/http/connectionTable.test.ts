import { describe, expect, test } from 'bun:test'
import { addressGroup, ConnectionTable, type OwnedConnection } from './connectionTable.ts'

/** Records whether it was ended. */
class FakeConnection implements OwnedConnection {
  isIdle: boolean
  isEnded = false
  readonly unsentBytes = 0

  constructor(
    readonly peer: string,
    isIdle: boolean,
    readonly hasServed = false,
  ) {
    this.isIdle = isIdle
  }

  checkDeadlines() {}

  end() {
    this.isEnded = true
  }

  terminate() {
    this.isEnded = true
  }

  fail() {
    this.isEnded = true
  }
}

const idle = (peer: string) => new FakeConnection(peer, true)
const busy = (peer: string) => new FakeConnection(peer, false, true)
/** One that has begun its first head. */
const beginning = (peer: string) => new FakeConnection(peer, false)
const used = (peer: string) => new FakeConnection(peer, true, true)

/** Adds all connections; returns for each whether it was taken. */
const addAll = (table: ConnectionTable, connections: readonly FakeConnection[]) =>
  connections.map((connection) => table.add(connection, connection.peer))

describe('connections in all', () => {
  test('the oldest idle one gives way; where none is idle, the new one is not taken', () => {
    const table = new ConnectionTable({ connectionsMax: 3, connectionsPerAddressMax: 10 })
    const [working, oldest, newer] = [busy('a'), idle('b'), idle('c')]
    expect(addAll(table, [working, oldest, newer, busy('d'), busy('e'), busy('f')])).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ])
    expect([working, oldest, newer].map(({ isEnded }) => isEnded)).toEqual([false, true, true])
    expect(table.size).toBe(3)
  })

  test('one that never brought a request gives way before those that did', () => {
    const table = new ConnectionTable({ connectionsMax: 2, connectionsPerAddressMax: 10 })
    const [used, unused, newest] = [new FakeConnection('a', true, true), idle('b'), busy('c')]
    expect(addAll(table, [used, unused, newest])).toEqual([true, true, true])
    expect([used, unused].map(({ isEnded }) => isEnded)).toEqual([false, true])
    expect(table.add(busy('d'), 'd')).toBe(true)
    expect(used.isEnded).toBe(true)
  })

  test('room is made from the address with the most connections', () => {
    const table = new ConnectionTable({ connectionsMax: 8, connectionsPerAddressMax: 100 })
    const honest = used('192.0.2.1')
    const many = Array.from({ length: 7 }, () => used('198.51.100.66'))
    addAll(table, [honest, ...many])
    const more = Array.from({ length: 20 }, () => used('198.51.100.66'))
    expect(new Set(addAll(table, more))).toEqual(new Set([true]))
    expect(honest.isEnded).toBe(false)
    expect(many.every(({ isEnded }) => isEnded)).toBe(true)
    expect(table.size).toBe(8)
  })

  test('used ones of an address with many give way before a new one of another address that has few', () => {
    const table = new ConnectionTable({ connectionsMax: 40, connectionsPerAddressMax: 100 })
    const few = [idle('192.0.2.1'), beginning('192.0.2.2')]
    const many = Array.from({ length: 38 }, () => used('198.51.100.66'))
    addAll(table, [...few, ...many])
    const more = Array.from({ length: 20 }, () => used('198.51.100.66'))
    expect(new Set(addAll(table, more))).toEqual(new Set([true]))
    expect(few.map(({ isEnded }) => isEnded)).toEqual([false, false])
    // Many addresses with one unused connection each do not displace one with some that were used.
    const kept = Array.from({ length: 6 }, () => used('192.0.2.3'))
    addAll(table, kept)
    addAll(
      table,
      Array.from({ length: 60 }, (_, at) => idle(`203.0.113.${at}`)),
    )
    expect(kept.map(({ isEnded }) => isEnded)).toEqual(kept.map(() => false))
  })

  test.each([
    ['of their own address', (peer: string) => peer],
    ['behind a proxy', () => null],
  ])('heads that are never finished give way before kept connections, %s', (_, addressOf) => {
    const table = new ConnectionTable({ connectionsMax: 4, connectionsPerAddressMax: 100 })
    const honest = used('10.0.0.1')
    const heads = Array.from({ length: 9 }, () => beginning('10.0.0.1'))
    expect(table.add(honest, addressOf(honest.peer))).toBe(true)
    for (const head of heads) expect(table.add(head, addressOf(head.peer))).toBe(true)
    expect(honest.isEnded).toBe(false)
    expect(heads.map(({ isEnded }) => isEnded)).toEqual(heads.map((_head, at) => at < 6))
  })

  test('a connection that was chosen to give way and was used since stays', () => {
    const table = new ConnectionTable({ connectionsMax: 3, connectionsPerAddressMax: 100 })
    const [first, second, third] = [used('a'), used('a'), used('a')]
    addAll(table, [first, second, third, used('b')])
    expect(first.isEnded).toBe(true)
    second.isIdle = false
    expect(table.add(used('b'), 'b')).toBe(true)
    expect([second, third].map(({ isEnded }) => isEnded)).toEqual([false, true])
  })
})

describe('connections of one address', () => {
  test('give way to each other, and not to those of others', () => {
    const table = new ConnectionTable({ connectionsMax: 100, connectionsPerAddressMax: 2 })
    const [other, first, second, third] = [
      idle('192.0.2.1'),
      idle('192.0.2.2'),
      idle('192.0.2.2'),
      idle('192.0.2.2'),
    ]
    addAll(table, [other, first, second, third])
    expect([other, first, second, third].map(({ isEnded }) => isEnded)).toEqual([false, true, false, false])
    expect(table.add(busy('192.0.2.3'), '192.0.2.3')).toBe(true)
  })

  test('that work are not ended for a new one', () => {
    const table = new ConnectionTable({ connectionsMax: 100, connectionsPerAddressMax: 1 })
    expect(addAll(table, [busy('192.0.2.2'), idle('192.0.2.2')])).toEqual([true, false])
    expect(table.size).toBe(1)
  })

  test('of a proxy count for whom it speaks, while it does', () => {
    const table = new ConnectionTable({ connectionsMax: 100, connectionsPerAddressMax: 1 })
    const [first, second] = [busy('10.0.0.1'), busy('10.0.0.1')]
    expect([table.add(first, null), table.add(second, null)]).toEqual([true, true])
    expect(table.assign(first, '203.0.113.9')).toBe(true)
    expect(table.assign(second, '203.0.113.9')).toBe(false)
    expect(table.assign(first, null)).toBe(true)
    expect(table.assign(second, '203.0.113.9')).toBe(true)
    table.remove(second)
    expect(table.assign(first, '203.0.113.9')).toBe(true)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group)
})
