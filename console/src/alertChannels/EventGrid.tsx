import { useQuery } from '@tanstack/react-query'
import { CheckField, Select } from '../parts/Field.tsx'
import { alertEventsQuery, type Subscriptions } from './channel.ts'

/** The lowest severity that a channel gets. */
const SEVERITIES = [
  { value: 'info', words: 'all' },
  { value: 'warning', words: 'warnings and errors' },
  { value: 'error', words: 'errors' },
] as const

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
  const common = isOne ? SEVERITIES.find((one) => one.value === lowest)?.value : undefined
  return (
    <fieldset className="field">
      <legend className="label">Notify about</legend>
      <Select
        label="Severity"
        value={common ?? ''}
        options={[
          ...(common === undefined ? [{ value: '' as const, words: 'as set for each event' }] : []),
          ...SEVERITIES,
        ]}
        onChange={(minSeverity) => {
          if (minSeverity !== '') onChange(now.map(({ kind }) => ({ kind, minSeverity })))
        }}
      />
      <ul>
        {items.map(({ description, displayName, kind }) => {
          const others = now.filter((one) => one.kind !== kind)
          return (
            <li key={kind} className="acts" title={description}>
              <CheckField
                label={displayName}
                value={others.length < now.length}
                onChange={(isOn) =>
                  onChange(isOn ? [...others, { kind, minSeverity: common ?? 'info' }] : others)
                }
              />
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
