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
          'Timeout in seconds',
          'For a whole attempt: 1 to 300. Default 15.',
        )}
        {number('concurrency', 'concurrency', 'Concurrent attempts', 'Over all processes: 1 to 512.')}
      </div>
      <div className="row-2">
        {number('rateCount', 'rate/count', 'Rate: attempts', 'Most attempts that start …')}
        {number(
          'ratePerSeconds',
          'rate/perSeconds',
          'Rate: per seconds',
          '… in any period of this many seconds.',
        )}
      </div>
      <div className="row-2">
        <TextField
          label="Order by"
          kind="code"
          value={value.orderBy}
          problem={at('order/by')}
          hint="A path like body.customer.id, or endpoint. Deliveries with the same key are sent one after the other."
          onChange={(orderBy) => onChange({ orderBy })}
        />
        {value.orderBy !== '' && (
          <Choice label="After a dead letter">
            <Segments
              label="After a dead letter"
              value={value.onDeadLetter}
              options={[
                { value: 'continue', words: 'Continue' },
                { value: 'hold', words: 'Hold the key' },
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
          hint="Up to 50 delays. Enter none for no retry."
          onChange={(delays) => onChange({ delays })}
        />
        <TextField
          label="Retry on"
          kind="code"
          value={value.on}
          problem={at('retry/on')}
          placeholder="408, 429, 5xx"
          hint="Response statuses. Default: all but 2xx and 410. Lost connections are always retried."
          onChange={(on) => onChange({ on })}
        />
      </div>
      <div className="row-2">
        {number('failures', 'breaker/failures', 'Circuit breaker: failures', 'After this many failures …')}
        {number(
          'windowSeconds',
          'breaker/windowSeconds',
          'Circuit breaker: within seconds',
          '… within this many seconds …',
        )}
        {number(
          'probeEverySeconds',
          'breaker/probeEverySeconds',
          'Circuit breaker: probe every',
          '… send only one attempt per this many seconds.',
        )}
      </div>
      <Choice label="When the receiver answers 410">
        <Segments
          label="When the receiver answers 410"
          value={value.gone}
          options={[
            { value: 'end', words: 'End the delivery' },
            { value: 'pause', words: 'End the delivery and pause the action' },
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
