import { laneQueue } from '../dispatch/index.ts'
import { NO_PAYLOAD, queue } from '../platform/queues.ts'

/** Looks at replays of many requests that the service sends. */
export const REPLAY_LANES = laneQueue('replays.lanes')

/** Pauses replays whose listeners have gone. */
export const REPLAY_SWEEP = queue({
  name: 'replays.sweep',
  payload: NO_PAYLOAD,
  options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
  cron: '* * * * *',
})
