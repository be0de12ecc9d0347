export { runQueues } from './queues.ts'
export {
  admitRun,
  claimRun,
  type HeldRun,
  heldRun,
  lockRun,
  type Runs,
  releaseRun,
  renewRun,
  requeueLost,
  wakeQueued,
} from './runs.ts'
