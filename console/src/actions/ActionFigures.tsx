import type { Answers } from '../trpc.ts'
import { count, duration, plural } from '../words/format.ts'

/** Figures of an action over the last hour. */
export type Health = Answers['actions']['health']['items'][number]

/** Below this share of successes an action is marked. */
const GOOD_SHARE = 0.95

/** Success rate, duration and backlog of an action in the last hour; nothing for an action without any. */
export function ActionFigures({ health }: { readonly health: Health }) {
  const { attempts, p95Ms, succeeded, unfinished } = health
  if (attempts === 0 && unfinished === 0) return null
  const share = attempts === 0 ? 1 : succeeded / attempts
  // Rounded down, so that only an action without a failure shows 100 %.
  const percent = Math.floor(share * 100)
  return (
    <span className="figures num" title="In the last hour">
      {attempts > 0 && (
        <span className={share < GOOD_SHARE ? 'bad' : 'ok'}>
          {percent} % of {plural(attempts, 'attempt')}
        </span>
      )}
      {p95Ms !== null && <span className="hint">p95 {duration(p95Ms)}</span>}
      {unfinished > 0 && <span className="hint">{count(unfinished)} waiting</span>}
    </span>
  )
}
