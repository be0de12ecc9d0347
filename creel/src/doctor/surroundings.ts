import { statfs } from 'node:fs/promises'
import type { Config } from '../config/index.ts'
import { type Check, check } from './check.ts'

const ANSWER_SECONDS_MAX = 5
const GIB = 1024 ** 3
const FREE_SHARE_MIN = 0.1
const FREE_BYTES_MIN = GIB

/** Checks the room on the disk of the data folder. A database elsewhere has a disk that cannot be seen from here. */
export async function diskCheck(config: Config): Promise<Check[]> {
  if (config.DATABASE_URL !== undefined) return []
  const { bavail, blocks, bsize } = await statfs(config.CREEL_DATA_DIR)
  const [free, all] = [bavail * bsize, blocks * bsize]
  const found = `${(free / GIB).toFixed(1)} GB of ${(all / GIB).toFixed(1)} GB are free`
  const isFine = free >= FREE_BYTES_MIN && free >= all * FREE_SHARE_MIN
  return [
    isFine
      ? check('disk', 'ok', found)
      : check(
          'disk',
          free < FREE_BYTES_MIN ? 'failure' : 'warning',
          found,
          'Free some space, or set a lower CREEL_STORAGE_MAX.',
        ),
  ]
}

/** Checks that the service answers under the addresses that it gives to people and senders. */
export async function addressChecks(addresses: Readonly<Record<string, string>>): Promise<Check[]> {
  return await Promise.all(
    Object.entries(addresses).map(async ([name, address]) => {
      const url = new URL('/healthz', address).href
      const problem = await answerOf(url)
      return problem === undefined
        ? check(name, 'ok', address)
        : check(
            name,
            'failure',
            `${url} does not reach Creel: ${problem}`,
            `Start the service, or correct ${name} or the proxy in front of it.`,
          )
    }),
  )
}

/** Why the answer is not that of a healthy Creel; undefined when it is. */
async function answerOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000) })
    const body = await response.text()
    return response.ok && body.includes('"ok"') ? undefined : `status ${response.status}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
