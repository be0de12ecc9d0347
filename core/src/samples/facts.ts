import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { Facts } from './sample.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Values for one sample: the time, and unique random ids. */
export function factsAt(now: Date): Facts {
  return {
    now,
    unix: Math.floor(now.getTime() / 1000),
    iso: now.toISOString(),
    number: (digits) => {
      const text = Array.from({ length: digits }, (_, at) =>
        at === 0 ? randomInt(1, 10) : randomInt(10),
      ).join('')
      return Number(text)
    },
    token: (count) => Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
    hex: (count) =>
      randomBytes(Math.ceil(count / 2))
        .toString('hex')
        .slice(0, count),
    uuid: () => randomUUID(),
  }
}
