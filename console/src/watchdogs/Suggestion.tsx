import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Button } from '../parts/Button.tsx'
import { creel } from '../trpc.ts'
import { interval, plural } from '../words/format.ts'

interface Props {
  readonly endpointId: string
  /** Undefined while it cannot be parsed. */
  readonly match: unknown
  readonly onUse: (everySeconds: number, graceSeconds: number) => void
}

/** The interval that the history suggests, with a button to use it. */
export function Suggestion({ endpointId, match, onUse }: Props) {
  const text = match === undefined ? undefined : JSON.stringify(match)
  const suggestion = useQuery({
    queryKey: ['suggestion', endpointId, text],
    queryFn: () =>
      creel.watchdogs.suggest.query({
        endpointId,
        ...(text === undefined || text === '{}' ? {} : { match: text }),
      }),
    enabled: text !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const said = suggestion.data
  if (said === undefined) return null
  const { available, expectedIntervalSeconds, graceSeconds, observedP90Seconds, reason, samples } = said
  if (!available || expectedIntervalSeconds === null || graceSeconds === null) {
    return <p className="hint">No interval can be suggested yet. {reason}</p>
  }
  return (
    <p className="acts">
      <span>
        In {plural(samples, 'capture')}, 90 % of the gaps are at most {interval(observedP90Seconds ?? 0)}.
        Suggested: every <b>{interval(expectedIntervalSeconds)}</b>, <b>{interval(graceSeconds)}</b> grace.
      </span>
      <Button look="small" onClick={() => onUse(expectedIntervalSeconds, graceSeconds)}>
        Use
      </Button>
    </p>
  )
}
