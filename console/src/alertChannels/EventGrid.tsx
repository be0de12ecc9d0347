import { useQuery } from '@tanstack/react-query'
import { creel } from '../trpc.ts'
import type { Subscriptions } from './channel.ts'

const SEVERITIES = ['info', 'warning', 'critical'] as const

interface Props {
  /** Null for all events. */
  readonly value: Subscriptions | null
  readonly onChange: (value: Subscriptions) => void
}

/** Events that a channel subscribes to, each with a minimum severity. */
export function EventGrid({ value, onChange }: Props) {
  const events = useQuery({
    queryKey: ['alert events'],
    queryFn: () => creel.alertChannels.events.query({}),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const items = events.data?.items ?? []
  const now: Subscriptions = value ?? items.map(({ kind }) => ({ kind, minSeverity: 'info' as const }))
  return (
    <fieldset className="field">
      <legend className="label">Notify about</legend>
      <ul>
        {items.map(({ description, displayName, kind }) => {
          const subscribed = now.find((one) => one.kind === kind)
          const others = now.filter((one) => one.kind !== kind)
          return (
            <li key={kind} className="acts">
              <label className="check grow" title={description}>
                <input
                  type="checkbox"
                  checked={subscribed !== undefined}
                  onChange={({ target }) =>
                    onChange(target.checked ? [...others, { kind, minSeverity: 'info' }] : others)
                  }
                />
                {displayName}
              </label>
              {subscribed !== undefined && (
                <select
                  className="select"
                  aria-label={`${displayName}: lowest severity`}
                  value={subscribed.minSeverity}
                  onChange={({ target }) =>
                    onChange([
                      ...others,
                      { kind, minSeverity: SEVERITIES.find((one) => one === target.value) ?? 'info' },
                    ])
                  }
                >
                  {SEVERITIES.map((severity) => (
                    <option key={severity} value={severity}>
                      {severity} and up
                    </option>
                  ))}
                </select>
              )}
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
