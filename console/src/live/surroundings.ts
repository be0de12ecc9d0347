import { problemOf } from '../words/problem.ts'
import type { Surroundings } from './captureStream.ts'
import { checkSession } from './queryClient.ts'

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
  check: checkSession,
  words: (error) => problemOf(error).detail,
}
