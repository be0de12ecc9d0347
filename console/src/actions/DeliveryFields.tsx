import type { ReactNode } from 'react'
import { Segments } from '../parts/Segments.tsx'
import { TextField } from '../parts/TextField.tsx'
import type { DeliveryDraft } from './deliveryDraft.ts'

interface Props {
  readonly value: DeliveryDraft
  /** The API's complaint about a member: `timeoutSeconds`, `rate/count`. */
  readonly at: (member: string) => string
  readonly onChange: (members: Partial<DeliveryDraft>) => void
}

/** How a destination is treated: time, pace, order, retries, and when to stop. Empty fields leave it to the installation. */
export function DeliveryFields({ value, at, onChange }: Props) {
  const number = (member: keyof DeliveryDraft, path: string, label: string, hint: string) => (
    <TextField
      label={label}
      kind="number"
      value={value[member]}
      problem={at(path)}
      hint={hint}
      onChange={(text) => onChange({ [member]: text })}
    />
  )
  return (
    <>
      <div className="row-2">
        {number(
          'timeoutSeconds',
          'timeoutSeconds',
          'Time limit, in seconds',
          'Of a whole attempt: 1 to 300. Usually 15.',
        )}
        {number('concurrency', 'concurrency', 'Attempts at once', 'Over all processes: 1 to 512.')}
      </div>
      <div className="row-2">
        {number('rateCount', 'rate/count', 'Rate: attempts', 'At most so many begin …')}
        {number(
          'ratePerSeconds',
          'rate/perSeconds',
          'Rate: per seconds',
          '… in any period of so many seconds.',
        )}
      </div>
      <div className="row-2">
        <TextField
          label="Order by"
          kind="code"
          value={value.orderBy}
          problem={at('order/by')}
          hint="A path like body.customer.id, or endpoint: deliveries of one key go one after the other."
          onChange={(orderBy) => onChange({ orderBy })}
        />
        {value.orderBy !== '' && (
          <Choice label="After a dead letter">
            <Segments
              label="After a dead letter"
              value={value.onDeadLetter}
              options={[
                { value: 'continue', words: 'Go on' },
                { value: 'hold', words: 'Hold its key' },
              ]}
              onChange={(onDeadLetter) => onChange({ onDeadLetter })}
            />
          </Choice>
        )}
      </div>
      <div className="row-2">
        <TextField
          label="Retry after"
          kind="code"
          value={value.delays}
          problem={at('retry/delays')}
          placeholder="5s, 1m, 10m"
          hint="Up to 50 delays; none for no retry."
          onChange={(delays) => onChange({ delays })}
        />
        <TextField
          label="Retry on"
          kind="code"
          value={value.on}
          problem={at('retry/on')}
          placeholder="408, 429, 5xx"
          hint="Statuses; usually all but 2xx and 410. Lost connections are always retried."
          onChange={(on) => onChange({ on })}
        />
      </div>
      <div className="row-2">
        {number('failures', 'breaker/failures', 'Breaker: failures', 'After so many …')}
        {number(
          'windowSeconds',
          'breaker/windowSeconds',
          'Breaker: within seconds',
          '… in so many seconds …',
        )}
        {number(
          'probeEverySeconds',
          'breaker/probeEverySeconds',
          'Breaker: probe every',
          '… only one attempt goes out in so many seconds.',
        )}
      </div>
      <Choice label="When the receiver answers 410">
        <Segments
          label="When the receiver answers 410"
          value={value.gone}
          options={[
            { value: 'end', words: 'End that delivery' },
            { value: 'pause', words: 'End it, and pause the action' },
          ]}
          onChange={(gone) => onChange({ gone })}
        />
      </Choice>
    </>
  )
}

function Choice({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="field">
      <span aria-hidden="true">{label}</span>
      {children}
    </div>
  )
}
