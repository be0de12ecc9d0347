import { hearStatus } from '../outage.ts'
import { creel, statusOf } from '../trpc.ts'
import { problemOf } from '../words/problem.ts'
import type { Surroundings } from './captureStream.ts'

export const browser: Surroundings = {
  later(run, ms) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  isHidden: () => document.hidden,
  onVisibility(run) {
    document.addEventListener('visibilitychange', run)
    return () => document.removeEventListener('visibilitychange', run)
  },
  async check() {
    try {
      await creel.me.get.query({})
      return undefined
    } catch (error) {
      hearStatus(statusOf(error))
      return statusOf(error)
    }
  },
  words: (error) => problemOf(error).detail,
}
