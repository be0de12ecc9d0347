import { describe, expect, test } from 'bun:test'
import type { OwnedConnection } from './connectionOwner.ts'
import { addressGroup, ConnectionTable } from './connectionTable.ts'

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
const busy = (peer: string) => new FakeConnection(peer, false)

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
