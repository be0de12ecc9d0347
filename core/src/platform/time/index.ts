export { type Backoff, backoffMs, DAY_MS, sleep, within } from './time.ts'
