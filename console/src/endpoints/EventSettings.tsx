import { Card } from '../parts/Card.tsx'
import { DurationField } from '../parts/DurationField.tsx'
import { SelectField, TextField } from '../parts/Field.tsx'
import type { SettingsForm } from './settingsDraft.ts'

const MODES = [
  { value: '', words: 'Deliver again' },
  { value: 'mark', words: 'mark it' },
  { value: 'skip', words: 'store it, and run no action' },
  { value: 'discard', words: 'count it, and store nothing' },
] as const

/** The path of event ids, and the treatment of duplicates. */
export function EventSettings({ form }: { form: SettingsForm }) {
  return (
    <Card title="Events" id="events">
      <div className="form">
        <TextField
          label="Id of the event"
          kind="code"
          placeholder="Provider default"
          hint="A path like body.order.id, headers.x-event-id or query.id."
          {...form.field('eventIdPath')}
        />
        <SelectField
          label="When an event comes again"
          hint="The sender is answered as for the first."
          options={MODES}
          {...form.field('dedupeMode', 'dedupe/then')}
        />
        {form.draft.dedupeMode !== '' && (
          <div className="row-2">
            <TextField
              label="The same event has the same"
              kind="code"
              placeholder="id of the event"
              hint="Or the same value at another path."
              {...form.field('dedupeBy', 'dedupe/by')}
            />
            <DurationField
              label="For so long after the first"
              hint="At most 30 days, and as long as requests are kept."
              {...form.field('dedupeWindow', 'dedupe/windowSeconds')}
            />
          </div>
        )}
      </div>
    </Card>
  )
}
