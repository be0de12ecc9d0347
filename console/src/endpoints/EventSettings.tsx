import { DEDUPE_MODES, type DedupeMode } from '@creel/core/engine/words'
import type { FormEvent } from 'react'
import { Button } from '../parts/Button.tsx'
import { DurationField, inUnits, secondsOf } from '../parts/DurationField.tsx'
import { Field, TextField } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import type { Endpoint } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { useEndpointChange } from './useEndpointChange.ts'

const DAY_SECONDS = 86_400

const MODE_WORDS: Readonly<Record<DedupeMode, string>> = {
  mark: 'mark it',
  skip: 'store it, and run no action',
  discard: 'count it, and store nothing',
}

/** Form for the path of event ids and the treatment of duplicates. */
export function EventSettings({ endpoint }: { endpoint: Endpoint }) {
  const { dedupe } = endpoint
  const [draft, setDraft, forget] = usePersisted(`events ${endpoint.id}`, {
    path: endpoint.eventIdPath ?? '',
    mode: dedupe?.then ?? '',
    by: dedupe === null || dedupe.by === 'event' ? '' : dedupe.by,
    window: inUnits(dedupe?.windowSeconds ?? DAY_SECONDS),
  })
  const change = useEndpointChange(endpoint.id, forget)
  const problem = change.error === null ? null : problemOf(change.error)
  const mode = DEDUPE_MODES.find((known) => known === draft.mode)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const by = draft.by.trim() === '' ? 'event' : draft.by.trim()
    change.mutate({
      eventIdPath: draft.path.trim(),
      dedupe: mode === undefined ? null : { by, windowSeconds: secondsOf(draft.window), then: mode },
    })
  }
  return (
    <section className="card" id="events" aria-label="Events">
      <h2>Events</h2>
      <form className="form" onSubmit={submit}>
        <TextField
          label="Id of the event"
          kind="code"
          value={draft.path}
          problem={problemAt(problem, 'eventIdPath')}
          placeholder="Provider default"
          hint="A path like body.order.id, headers.x-event-id or query.id."
          onChange={(path) => setDraft({ ...draft, path })}
        />
        <Field
          label="When an event comes again"
          problem={problemAt(problem, 'dedupe/then')}
          hint="The sender is answered as for the first."
        >
          {(ids) => (
            <select
              {...ids}
              className="select"
              value={draft.mode}
              onChange={({ target }) => setDraft({ ...draft, mode: target.value })}
            >
              <option value="">Deliver again</option>
              {DEDUPE_MODES.map((known) => (
                <option key={known} value={known}>
                  {MODE_WORDS[known]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {mode !== undefined && (
          <div className="row-2">
            <TextField
              label="The same event has the same"
              kind="code"
              value={draft.by}
              problem={problemAt(problem, 'dedupe/by')}
              placeholder="id of the event"
              hint="Or the same value at another path."
              onChange={(by) => setDraft({ ...draft, by })}
            />
            <DurationField
              label="For so long after the first"
              problem={problemAt(problem, 'dedupe/windowSeconds')}
              hint="At most 30 days, and as long as requests are kept."
              value={draft.window}
              onChange={(window) => setDraft({ ...draft, window })}
            />
          </div>
        )}
        <Problems
          of={problemBeside(problem, ['eventIdPath', 'dedupe/then', 'dedupe/by', 'dedupe/windowSeconds'])}
        />
        <div className="form-foot">
          <Button type="submit" look="primary" disabled={change.isPending}>
            {change.isPending ? 'Saving…' : 'Save'}
          </Button>
        </div>
      </form>
    </section>
  )
}
