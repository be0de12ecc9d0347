export { DAY_MS, sleep, within } from './time.ts'
