import { describe, expect, test } from 'bun:test'
import { connectionsEach, gatewayCount } from './gatewayCount.ts'

const both = new Set(['gateway', 'jobs'] as const)
const on = (cores: number, platform: NodeJS.Platform = 'linux') => ({ cores, platform })

describe('gateway processes', () => {
  test('are one for each four cores beyond the first two, and at least one', () => {
    const counts = [1, 2, 4, 8, 9, 10, 14, 18, 34].map(
      (cores) => gatewayCount(undefined, both, on(cores)).count,
    )
    expect(counts).toEqual([1, 1, 1, 1, 1, 2, 3, 4, 8])
  })

  test('are as many as configured', () => {
    expect(gatewayCount(3, both, on(2))).toEqual({ count: 3 })
  })

  test('are one where the system gives all connections to one listener', () => {
    expect(gatewayCount(undefined, both, on(32, 'darwin'))).toEqual({ count: 1 })
    expect(gatewayCount(3, both, on(32, 'darwin'))).toEqual({
      count: 1,
      warning: expect.stringContaining('Linux only'),
    })
  })

  test('are not there in a program that only runs jobs', () => {
    const jobs = new Set(['jobs'] as const)
    expect(gatewayCount(undefined, jobs, on(32))).toEqual({ count: 1 })
    expect(gatewayCount(2, jobs, on(32))).toMatchObject({ count: 1, warning: expect.any(String) })
  })
})

test('database connections are those of one process, or are divided as far as each can work', () => {
  const inAll = { database: 16, searches: 4, queue: 6 }
  expect(connectionsEach(inAll, 1)).toEqual(inAll)
  expect(connectionsEach(inAll, 2)).toEqual({ database: 8, searches: 2, queue: 3 })
  expect(connectionsEach(inAll, 16)).toEqual({ database: 4, searches: 2, queue: 2 })
})
