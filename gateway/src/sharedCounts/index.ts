export { CountsHub } from './countsHub.ts'
export { type CountsMember, createCountsMember } from './countsMember.ts'
export {
  ALONE,
  type CountReport,
  type CountTotal,
  type SharedCounts,
  type SharedLimit,
} from './sharedCounts.ts'
