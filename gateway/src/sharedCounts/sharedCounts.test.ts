import { describe, expect, test } from 'bun:test'
import { ConnectionTable, type OwnedConnection } from '../http/connectionTable.ts'
import { createStrangers } from '../strangers/strangers.ts'
import { CountsHub, type CountsMember, createCountsMember } from './index.ts'

const PROCESSES = 3
const ADDRESS = '192.0.2.1'

/** Counts of a program's processes in this one. */
function program(nowMs?: () => number) {
  const hub = new CountsHub({ processes: PROCESSES, ...(nowMs && { nowMs }) })
  let reports = 0
  const join = () => {
    const joined = hub.join((totals) => counts.take(totals))
    const counts: CountsMember = createCountsMember(PROCESSES, (report) => {
      reports += report.length
      joined.take(report)
    })
    return { counts, leave: () => joined.leave() }
  }
  return { members: Array.from({ length: PROCESSES }, join), join, reports: () => reports }
}

/** Polls: a report is made some milliseconds after a change. */
async function until(is: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 60_000; !is(); await Bun.sleep(1)) {
    if (performance.now() > deadline) throw new Error('It never was.')
  }
  // The hub tells all members of a report in the next turn of the event loop.
  await new Promise<void>((resolve) => setImmediate(resolve))
}

class Connection implements OwnedConnection {
  isEnded = false
  readonly unsentBytes = 0
  readonly peer = ADDRESS

  constructor(
    readonly isIdle: boolean,
    readonly hasServed: boolean,
  ) {}

  checkDeadlines() {}
  end() {}
  terminate() {
    this.isEnded = true
  }
  fail() {}
}

function tablesOf(members: readonly { readonly counts: CountsMember }[], perAddress: number) {
  const limits = { connectionsMax: 1000, connectionsPerAddressMax: perAddress }
  return members.map(({ counts }) => {
    const shed: OwnedConnection[] = []
    const table = new ConnectionTable(limits, {
      counts,
      connectionsMax: 1000,
      onShed: (connection) => shed.push(connection),
    })
    const add = (count: number, isIdle = false) =>
      Array.from({ length: count }, () => {
        const connection = new Connection(isIdle, true)
        return { connection, isTaken: table.add(connection, ADDRESS) }
      })
    return { table, add, shed }
  })
}

describe('connections of one address', () => {
  test('may all be in one process', async () => {
    const [first, second] = tablesOf(program().members, 30)
    const taken = first?.add(30) ?? []
    expect(taken.every(({ isTaken }) => isTaken)).toBe(true)
    expect(first?.add(1)[0]?.isTaken).toBe(false)
    expect(second?.table.size).toBe(0)
  })

  test('that several processes took at the same time are shed where they are most, idle ones first', async () => {
    const [first, second, third] = tablesOf(program().members, 30)
    const idle = first?.add(5, true) ?? []
    first?.add(15)
    second?.add(20)
    third?.add(4)
    const sizes = () => [first, second, third].map((one) => one?.table.size)
    await until(() => String(sizes()) === '13,13,4')
    expect(idle.map(({ connection }) => connection.isEnded)).toEqual(idle.map(() => true))
    expect(first?.shed).toHaveLength(7)
  })

  test('of the others count; a process may always use its even part', async () => {
    const { members, reports } = program()
    const [first, second] = tablesOf(members, 30)
    first?.add(25)
    second?.add(5)
    await until(() => reports() >= 2)
    expect(first?.add(1)[0]?.isTaken).toBe(false)
    // The second is below its ten, so it takes one more, and the first gives one up.
    expect(second?.add(1)[0]?.isTaken).toBe(true)
    await until(() => first?.table.size === 24)
    expect(second?.table.size).toBe(6)
  })

  test('leave with their process', async () => {
    const { members, join, reports } = program()
    const [first, second] = tablesOf(members, 30)
    first?.add(20)
    second?.add(10)
    await until(() => reports() >= 2)
    expect(second?.add(1)[0]?.isTaken).toBe(false)
    members[0]?.leave()
    await until(() => second?.add(1)[0]?.isTaken === true)
    const [again] = tablesOf([join()], 30)
    again?.add(19)
    await until(() => second?.add(1)[0]?.isTaken === false)
    expect(second?.table.size).toBeLessThan(30)
  })

  test('cost no message far below the limit', async () => {
    const { members, reports } = program()
    const [first, second] = tablesOf(members, 30)
    first?.add(4)
    second?.add(4)
    await Bun.sleep(30)
    expect(reports()).toBe(0)
  })
})

describe('wrong calls of one address', () => {
  test('are 600 in all processes together, until the windows end', async () => {
    let now = new Date(0)
    const { members } = program(() => now.getTime())
    const all = members.map(({ counts }) =>
      createStrangers({ now: () => now }, { trustsProxies: false, counts }),
    )
    const [first, second, third] = all
    for (let call = 0; call < 300; call += 1) first?.note(ADDRESS, false)
    now = new Date(10_000)
    for (let call = 0; call < 299; call += 1) second?.note(ADDRESS, false)
    expect(third?.waitOf(ADDRESS)).toBeUndefined()
    second?.note(ADDRESS, false)
    await until(() => all.every((one) => one.waitOf(ADDRESS) !== undefined))
    expect(first?.waitOf(ADDRESS)).toBe(50)
    expect(third?.waitOf(ADDRESS)).toBe(60)
    // Others are served.
    expect(third?.waitOf('192.0.2.2')).toBeUndefined()
    now = new Date(70_000)
    expect(all.map((one) => one.waitOf(ADDRESS))).toEqual([undefined, undefined, undefined])
  })

  test('are 6,000 where one process has seen that a proxy forwards them', async () => {
    const now = new Date()
    const { members } = program(() => now.getTime())
    const [first, second] = members.map(({ counts }) =>
      createStrangers({ now: () => now }, { trustsProxies: false, counts }),
    )
    for (let call = 0; call < 1500; call += 1) first?.note(ADDRESS, true)
    for (let call = 0; call < 600; call += 1) second?.note(ADDRESS, false)
    expect(second?.waitOf(ADDRESS)).toBe(60)
    await until(() => second?.waitOf(ADDRESS) === undefined)
  })
})
