import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { ConditionField } from '../conditions/ConditionField.tsx'
import { CheckField, named, SelectField, TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Segments } from '../parts/Segments.tsx'
import { toast } from '../parts/Toasts.tsx'
import { useForm } from '../parts/useForm.ts'
import { type Action, type Answers, creel, type Endpoint } from '../trpc.ts'
import { draftOfAction, membersOf, NO_SECRETS, newDraft } from './draft.ts'
import { ForwardTerms } from './ForwardTerms.tsx'

interface Props {
  readonly endpoint: Endpoint
  readonly action: Action | undefined
  readonly options: Answers['actions']['list']['options']
  readonly onClose: () => void
}

/** Form of an action. The draft survives refusals and reloads until it is saved or discarded. */
export function ActionForm({ endpoint, action: opened, options, onClose }: Props) {
  const [made, setMade] = useState<Action>()
  const action = opened ?? made
  const [params] = useAddress()
  // Secrets are never kept in the browser.
  const [secrets, setSecrets] = useState(NO_SECRETS)
  const sentSecrets = useRef(secrets)
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
      sentSecrets.current = secrets
      const members = membersOf(draft, secrets, action === undefined)
      return action === undefined
        ? creel.actions.create.mutate({ endpointId: endpoint.id, kind: draft.kind, ...members })
        : creel.actions.update.mutate({ endpointId: endpoint.id, actionId: action.id, ...members })
    },
    draftOfSaved: draftOfAction,
    remove:
      action === undefined
        ? undefined
        : () => creel.actions.remove.mutate({ endpointId: endpoint.id, actionId: action.id }),
    stale: [['actions', endpoint.id]],
    tell: ({ name, warnings = [] }) => toast([`${name} saved.`, ...warnings].join(' ')),
    onSaved: (saved, typed) => {
      const areSecretsSaved = secrets === sentSecrets.current
      if (areSecretsSaved && typed() === undefined) form.close()
      else {
        setMade(saved)
        if (areSecretsSaved) setSecrets(NO_SECRETS)
      }
    },
    onClose,
  })
  const { draft } = form
  const channels = options.channels.map(({ id, name, kind }) => ({ id, name: `${name} (${kind})` }))
  return (
    <form className="form" onSubmit={form.submit} aria-label={action?.name ?? 'New action'}>
      {action === undefined && (
        <Segments
          label="Kind"
          options={[
            { value: 'forward', words: 'Forward to a URL' },
            { value: 'notify', words: 'Notify a channel', isOff: !options.kinds.includes('notify') },
          ]}
          {...form.field('kind')}
        />
      )}
      <div className="row-2">
        {draft.kind === 'forward' ? (
          <TextField label="URL" kind="url" placeholder="https://…" {...form.field('url')} />
        ) : (
          <SelectField
            label="Channel"
            options={named(channels, 'Choose…')}
            hint={
              channels.length === 0 && (
                <Link className="link" href="/alerts">
                  Add an alert channel first
                </Link>
              )
            }
            {...form.field('alertChannelId')}
          />
        )}
        <TextField
          label="Name"
          hint={
            action === undefined ? 'Defaults to the host of the URL or the name of the channel.' : undefined
          }
          {...form.field('name')}
        />
      </div>
      {draft.kind === 'forward' ? (
        <fieldset className="field">
          <legend className="label">Append to the URL</legend>
          <div className="acts">
            <CheckField label="Captured path" {...form.field('appendPath')} />
            <CheckField label="Captured query" {...form.field('appendQuery')} />
          </div>
        </fieldset>
      ) : (
        <TextField
          label="Message"
          rows={3}
          hint="Any path of the request works as a placeholder: {{ body.id }}, {{ label }}, {{ endpoint.name }}."
          {...form.field('messageTemplate')}
        />
      )}
      <ConditionField
        endpointId={endpoint.id}
        label="When"
        member="condition"
        problems={form.problem}
        {...form.field('condition')}
      />
      {draft.kind === 'forward' && (
        <ForwardTerms
          form={form}
          action={action}
          secrets={secrets}
          onSecrets={(typed) => setSecrets({ ...secrets, ...typed })}
        />
      )}
      <FormFoot form={form} submit="Save" removalWords="Confirm: delete action and rules" />
    </form>
  )
}
