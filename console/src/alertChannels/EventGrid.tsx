import { useQuery } from '@tanstack/react-query'
import { alertEventsQuery, type Subscriptions } from './channel.ts'

/** The lowest severity that a channel gets, in words. */
const SEVERITY_WORDS = { info: 'all', warning: 'warnings and errors', error: 'errors' } as const
const SEVERITIES = ['info', 'warning', 'error'] as const

interface Props {
  /** Null for all events. */
  readonly value: Subscriptions | null
  readonly onChange: (value: Subscriptions) => void
}

/** Events that a channel subscribes to, and one lowest severity for all of them. */
export function EventGrid({ value, onChange }: Props) {
  const events = useQuery(alertEventsQuery)
  const items = events.data?.items ?? []
  const now: Subscriptions = value ?? items.map(({ kind }) => ({ kind, minSeverity: 'info' as const }))
  const lowest = now[0]?.minSeverity ?? 'info'
  const isOne = now.every(({ minSeverity }) => minSeverity === lowest)
  const common = isOne ? SEVERITIES.find((one) => one === lowest) : undefined
  return (
    <fieldset className="field">
      <legend className="label">Notify about</legend>
      <select
        className="select"
        aria-label="Severity"
        value={common ?? ''}
        onChange={({ target }) => {
          const minSeverity = SEVERITIES.find((one) => one === target.value)
          if (minSeverity !== undefined) onChange(now.map(({ kind }) => ({ kind, minSeverity })))
        }}
      >
        {common === undefined && <option value="">as set for each event</option>}
        {SEVERITIES.map((severity) => (
          <option key={severity} value={severity}>
            {SEVERITY_WORDS[severity]}
          </option>
        ))}
      </select>
      <ul>
        {items.map(({ description, displayName, kind }) => {
          const others = now.filter((one) => one.kind !== kind)
          return (
            <li key={kind} className="acts">
              <label className="check grow" title={description}>
                <input
                  type="checkbox"
                  checked={others.length < now.length}
                  onChange={({ target }) =>
                    onChange(target.checked ? [...others, { kind, minSeverity: common ?? 'info' }] : others)
                  }
                />
                {displayName}
              </label>
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
