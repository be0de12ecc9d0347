import { count } from '../words/format.ts'
import { isLimit } from '../words/limit.ts'

const FULL = 0.9

/** The used share of a limit. */
export function Meter({ words, used, limit }: { words: string; used: number; limit: number }) {
  const share = limit > 0 ? Math.min(1, used / limit) : 0
  return (
    <div className="meter">
      <p>
        <span className="cut">{words}</span>
        <span className="num">
          <b>{count(used)}</b>
          {isLimit(limit) && <span className="hint"> / {count(limit)}</span>}
        </span>
      </p>
      {isLimit(limit) && (
        <div className="meter-bar" data-full={share >= FULL} aria-hidden="true">
          <i style={{ inlineSize: `${share * 100}%` }} />
        </div>
      )}
    </div>
  )
}
