import { useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { ConditionField } from '../conditions/ConditionField.tsx'
import { Field } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Segments } from '../parts/Segments.tsx'
import { toast } from '../parts/toasts.ts'
import { useForm, useRemoval } from '../parts/useForm.ts'
import { type Action, type Answers, creel, type Endpoint } from '../trpc.ts'
import { Appended } from './Appended.tsx'
import { draftOfAction, membersOf, NO_SECRETS, newDraft } from './draft.ts'
import { ForwardTerms } from './ForwardTerms.tsx'

interface Props {
  readonly endpoint: Endpoint
  /** Undefined for a new action. */
  readonly action: Action | undefined
  readonly options: Answers['actions']['list']['options']
  readonly onClose: () => void
  readonly onSaved: () => Promise<void>
}

const SHOWN = [
  'name',
  'url',
  'alertChannelId',
  'messageTemplate',
  'condition',
  'signingSecret',
  'signing',
  'delivery',
  'auth/kind',
  'auth/token',
  'auth/username',
  'auth/password',
  'auth/name',
  'auth/value',
  'auth/tokenUrl',
  'auth/clientId',
  'auth/clientSecret',
  'auth/scope',
  'tls/clientCertificate',
  'tls/clientKey',
  'tls/certificateAuthority',
]

/** Form of an action. The draft survives refusals and reloads until it is saved or discarded. */
export function ActionForm({ endpoint, action, options, onClose, onSaved }: Props) {
  const [params] = useAddress()
  // Secrets are never kept in the browser.
  const [secrets, setSecrets] = useState(NO_SECRETS)
  const form = useForm({
    keptAs: `action form ${endpoint.id} ${action?.id ?? `new ${params.get('path') ?? ''}`}`,
    begin: () => (action === undefined ? newDraft(params) : draftOfAction(action)),
    stored:
      action === undefined
        ? undefined
        : async () => {
            const { actions } = await creel.actions.list.query({ endpointId: endpoint.id })
            const now = actions.find(({ id }) => id === action.id)
            return now === undefined ? undefined : draftOfAction(now)
          },
    save: (draft) => {
      const members = membersOf(draft, secrets)
      return action === undefined
        ? creel.actions.create.mutate({ endpointId: endpoint.id, kind: draft.kind, ...members })
        : creel.actions.update.mutate({ endpointId: endpoint.id, actionId: action.id, ...members })
    },
    onSaved: async ({ name }) => {
      await onSaved()
      toast(`${name} saved`)
      close()
    },
  })
  const { change, draft, problem } = form
  const close = () => {
    form.forget()
    onClose()
  }
  const removal = useRemoval(
    () => creel.actions.remove.mutate({ endpointId: endpoint.id, actionId: action?.id ?? '' }),
    async () => {
      await onSaved()
      close()
    },
  )
  return (
    <form className="form" onSubmit={form.submit} aria-label={action?.name ?? 'New action'}>
      {action === undefined && (
        <Segments
          label="Kind"
          value={draft.kind}
          options={[
            { value: 'forward', words: 'Forward to a URL' },
            { value: 'notify', words: 'Notify a channel', isOff: !options.kinds.includes('notify') },
          ]}
          onChange={(kind) => change({ kind })}
        />
      )}
      <div className="row-2">
        {draft.kind === 'forward' ? (
          <Field label="URL" problem={form.at('url')}>
            {(ids) => (
              <input
                {...ids}
                className="input mono"
                type="url"
                placeholder="https://…"
                value={draft.url}
                onChange={({ target }) => change({ url: target.value })}
              />
            )}
          </Field>
        ) : (
          <Field
            label="Channel"
            problem={form.at('alertChannelId')}
            hint={
              options.channels.length === 0 ? (
                <Link className="link" href="/alerts">
                  Add an alert channel first
                </Link>
              ) : undefined
            }
          >
            {(ids) => (
              <select
                {...ids}
                className="select"
                value={draft.alertChannelId}
                onChange={({ target }) => change({ alertChannelId: target.value })}
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
          problem={form.at('name')}
          hint="Defaults to the host of the URL or the name of the channel."
        >
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={draft.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
      </div>
      {draft.kind === 'forward' && <Appended draft={draft} onChange={change} />}
      {draft.kind === 'notify' && (
        <Field
          label="Message"
          problem={form.at('messageTemplate')}
          hint="Any path of the request works as a placeholder: {{ body.id }}, {{ label }}, {{ endpoint.name }}."
        >
          {(ids) => (
            <textarea
              {...ids}
              className="textarea mono"
              rows={3}
              value={draft.messageTemplate}
              onChange={({ target }) => change({ messageTemplate: target.value })}
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
        onChange={(next) => change({ condition: next })}
      />
      {draft.kind === 'forward' && (
        <ForwardTerms
          form={form}
          action={action}
          secrets={secrets}
          onSecrets={(typed) => setSecrets({ ...secrets, ...typed })}
        />
      )}
      <FormFoot
        form={form}
        shown={SHOWN}
        submit="Save"
        onCancel={close}
        removal={action === undefined ? undefined : removal}
        removalWords="Confirm: delete action and rules"
      />
    </form>
  )
}
