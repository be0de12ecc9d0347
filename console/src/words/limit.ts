import { bytes, count } from './format.ts'

/** Plans represent "no limit" by a billion, or by a quadrillion bytes. */
const NO_LIMIT = 1_000_000_000
const NO_LIMIT_BYTES = 1_000_000_000_000_000

/** Whether the plan is worth a mention: a service of one's own has none. */
export const hasPlan = ({ key }: { readonly key: string }): boolean => key !== 'self-hosted'

/** Whether a limit of a plan is a real one. */
export const isLimit = (limit: number): boolean => limit < NO_LIMIT

/** A limit of a plan: `200`, or `no limit`. */
export const limitWords = (limit: number): string => (isLimit(limit) ? count(limit) : 'no limit')

/** A limit in bytes: `10.0 MB`, or `no limit`. */
export const limitOfBytes = (limit: number): string => (limit < NO_LIMIT_BYTES ? bytes(limit) : 'no limit')

/** A number with its limit, if there is one: `3 of 10`, `3`. */
export const ofLimit = (used: number, limit: number): string =>
  isLimit(limit) ? `${count(used)} of ${count(limit)}` : count(used)
