export type { Wakeups } from './wakeups.ts'
