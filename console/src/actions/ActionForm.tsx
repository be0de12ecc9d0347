import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { ConditionField } from '../conditions/ConditionField.tsx'
import { Field } from '../parts/Field.tsx'
import { Segments } from '../parts/Segments.tsx'
import { toast } from '../parts/toasts.ts'
import { usePersisted } from '../parts/usePersisted.ts'
import { type Action, type Answers, creel, type Endpoint } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { draftOfAction, membersOf, newDraft } from './draft.ts'
import { SigningSecret } from './SigningSecret.tsx'

interface Props {
  readonly endpoint: Endpoint
  /** Undefined for a new one. */
  readonly action: Action | undefined
  readonly options: Answers['actions']['list']['options']
  readonly onClose: () => void
  readonly onSaved: () => Promise<void>
}

const SHOWN = ['name', 'url', 'alertChannelId', 'messageTemplate', 'condition', 'signingSecret']

/** What an action does, and when; what is typed outlives refusals and reloads until it is saved or given up. */
export function ActionForm({ endpoint, action, options, onClose, onSaved }: Props) {
  const [params] = useAddress()
  const [draft, setDraft, forget] = usePersisted(
    `action ${endpoint.id} ${action?.id ?? `new ${params.get('path') ?? ''}`}`,
    () => (action === undefined ? newDraft(params) : draftOfAction(action)),
  )
  const [isRemoving, setRemoving] = useState(false)
  const close = () => {
    forget()
    onClose()
  }
  const save = useMutation({
    mutationFn: () =>
      action === undefined
        ? creel.actions.create.mutate({ endpointId: endpoint.id, kind: draft.kind, ...membersOf(draft) })
        : creel.actions.update.mutate({ endpointId: endpoint.id, actionId: action.id, ...membersOf(draft) }),
    onSuccess: async ({ name }) => {
      await onSaved()
      toast(`${name} saved`)
      close()
    },
  })
  const remove = useMutation({
    mutationFn: (actionId: string) => creel.actions.remove.mutate({ endpointId: endpoint.id, actionId }),
    onSuccess: async () => {
      await onSaved()
      close()
    },
  })
  const error = save.error ?? remove.error
  const problem = error === null ? null : problemOf(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className="form" onSubmit={submit} aria-label={action?.name ?? 'New action'}>
      {action === undefined && (
        <Segments
          label="Kind"
          value={draft.kind}
          options={[
            { value: 'forward', words: 'Forward to a URL' },
            { value: 'notify', words: 'Tell a channel', isOff: !options.kinds.includes('notify') },
          ]}
          onChange={(kind) => setDraft({ ...draft, kind })}
        />
      )}
      <div className="row-2">
        {draft.kind === 'forward' ? (
          <Field label="URL" problem={problemAt(problem, 'url')}>
            {(ids) => (
              <input
                {...ids}
                className="input mono"
                type="url"
                placeholder="https://…"
                value={draft.url}
                onChange={({ target }) => setDraft({ ...draft, url: target.value })}
              />
            )}
          </Field>
        ) : (
          <Field
            label="Channel"
            problem={problemAt(problem, 'alertChannelId')}
            hint={
              options.channels.length === 0 ? (
                <Link className="link" href="/alerts">
                  Add a channel first
                </Link>
              ) : undefined
            }
          >
            {(ids) => (
              <select
                {...ids}
                className="select"
                value={draft.alertChannelId}
                onChange={({ target }) => setDraft({ ...draft, alertChannelId: target.value })}
              >
                <option value="">Choose…</option>
                {options.channels.map(({ id, name, kind }) => (
                  <option key={id} value={id}>
                    {name} ({kind})
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field
          label="Name"
          problem={problemAt(problem, 'name')}
          hint="For people; left out, it is named after where it goes."
        >
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={draft.name}
              onChange={({ target }) => setDraft({ ...draft, name: target.value })}
            />
          )}
        </Field>
      </div>
      {draft.kind === 'notify' && (
        <Field
          label="Message"
          problem={problemAt(problem, 'messageTemplate')}
          hint="{{ body.id }}, {{ label }}, {{ endpoint.name }}: any path of the request."
        >
          {(ids) => (
            <textarea
              {...ids}
              className="textarea mono"
              rows={3}
              value={draft.messageTemplate}
              onChange={({ target }) => setDraft({ ...draft, messageTemplate: target.value })}
            />
          )}
        </Field>
      )}
      <ConditionField
        endpointId={endpoint.id}
        label="When"
        member="condition"
        problem={problem}
        value={draft.condition}
        onChange={(next) => setDraft({ ...draft, condition: next })}
      />
      {draft.kind === 'forward' && (
        <SigningSecret
          signing={action?.signing}
          value={draft.signingSecret}
          problem={problemAt(problem, 'signingSecret')}
          onChange={(signingSecret) => setDraft({ ...draft, signingSecret })}
        />
      )}
      {problemBeside(problem, SHOWN).map((detail) => (
        <p key={detail} className="problem" role="alert">
          {detail}
        </p>
      ))}
      <div className="form-foot">
        <button type="submit" className="button primary" disabled={save.isPending}>
          {save.isPending ? 'Saving…' : 'Save'}
        </button>
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <span className="grow" />
        {action !== undefined && (
          <button
            type="button"
            className="button danger"
            onClick={() => (isRemoving ? remove.mutate(action.id) : setRemoving(true))}
          >
            {isRemoving ? 'Really delete it, with its rules' : 'Delete…'}
          </button>
        )}
      </div>
    </form>
  )
}
