import { TextField } from '../parts/Field.tsx'
import { SegmentsField } from '../parts/Segments.tsx'
import type { Part } from '../parts/useForm.ts'
import type { DeliveryDraft } from './deliveryDraft.ts'

const AFTER_DEAD_LETTER = [
  { value: 'continue', words: 'Continue' },
  { value: 'hold', words: 'Hold the key' },
] as const

const WHEN_GONE = [
  { value: 'end', words: 'End the delivery' },
  { value: 'pause', words: 'End the delivery and pause the action' },
] as const

/** How a destination is treated: time, pace, order, retries, and when to stop. Empty fields leave it to the installation. */
export function DeliveryFields({ form }: { readonly form: Part<DeliveryDraft> }) {
  const number = (member: keyof DeliveryDraft, label: string, hint: string, pointer?: string) => (
    <TextField label={label} kind="number" hint={hint} {...form.field(member, pointer)} />
  )
  return (
    <>
      <div className="row-2">
        {number('timeoutSeconds', 'Timeout in seconds', 'For a whole attempt: 1 to 300. Default 15.')}
        {number('concurrency', 'Concurrent attempts', 'Over all processes: 1 to 512.')}
      </div>
      <div className="row-2">
        {number('rateCount', 'Rate: attempts', 'Most attempts that start …', 'rate/count')}
        {number(
          'ratePerSeconds',
          'Rate: per seconds',
          '… in any period of this many seconds.',
          'rate/perSeconds',
        )}
      </div>
      <div className="row-2">
        <TextField
          label="Order by"
          kind="code"
          hint="A path like body.customer.id, or endpoint. Deliveries with the same key are sent one after the other."
          {...form.field('orderBy', 'order/by')}
        />
        {form.draft.orderBy !== '' && (
          <SegmentsField
            label="After a dead letter"
            options={AFTER_DEAD_LETTER}
            {...form.field('onDeadLetter', 'order/onDeadLetter')}
          />
        )}
      </div>
      <div className="row-2">
        <TextField
          label="Retry after"
          kind="code"
          placeholder="5s, 1m, 10m"
          hint="Up to 50 delays. Enter none for no retry."
          {...form.field('delays', 'retry/delays')}
        />
        <TextField
          label="Retry on"
          kind="code"
          placeholder="408, 429, 5xx"
          hint="Response statuses. Default: all but 2xx and 410. Lost connections are always retried."
          {...form.field('on', 'retry/on')}
        />
      </div>
      <div className="row-2">
        {number('failures', 'Circuit breaker: failures', 'After this many failures …', 'breaker/failures')}
        {number(
          'windowSeconds',
          'Circuit breaker: within seconds',
          '… within this many seconds …',
          'breaker/windowSeconds',
        )}
        {number(
          'probeEverySeconds',
          'Circuit breaker: probe every',
          '… send only one attempt per this many seconds.',
          'breaker/probeEverySeconds',
        )}
      </div>
      <SegmentsField label="When the receiver answers 410" options={WHEN_GONE} {...form.field('gone')} />
    </>
  )
}
