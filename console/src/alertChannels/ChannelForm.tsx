import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Field } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Problem } from '../parts/Problem.tsx'
import { toast } from '../parts/toasts.ts'
import { useForm, useRemoval } from '../parts/useForm.ts'
import { type Answers, creel, type Inputs } from '../trpc.ts'
import { ago } from '../words/format.ts'
import type { Channel, Subscriptions } from './channel.ts'
import { EventGrid } from './EventGrid.tsx'
import { SettingField, settingsOf } from './SettingField.tsx'

type Kind = Answers['alertChannels']['kinds']['items'][number]

/** Adds a channel and tests it, or changes one. Credentials can be set, but not read. */
export function ChannelForm({ channel, onClose }: { channel: Channel | undefined; onClose: () => void }) {
  const queries = useQueryClient()
  const kinds = useQuery({
    queryKey: ['channel kinds'],
    queryFn: () => creel.alertChannels.kinds.query({}),
    staleTime: Number.POSITIVE_INFINITY,
  })
  // Credentials are never kept in the browser.
  const [secret, setSecret] = useState('')
  const refresh = () => queries.invalidateQueries({ queryKey: ['channels'] })
  const form = useForm({
    keptAs: `channel ${channel?.id ?? 'new'}`,
    begin: () => draftOf(channel),
    stored:
      channel === undefined
        ? undefined
        : async () => draftOf(await creel.alertChannels.get.query({ id: channel.id })),
    save: async (draft) => {
      const kind = kindOf(draft)
      if (kind === undefined) throw new Error('Choose a kind.')
      const members = membersOf(draft, kind, secret)
      if (channel !== undefined) {
        return {
          tested: null,
          saved: await creel.alertChannels.update.mutate({ id: channel.id, ...members }),
        }
      }
      const saved = await creel.alertChannels.create.mutate({ kind: kind.kind, ...members })
      return {
        saved,
        tested: saved.connected ? await creel.alertChannels.test.mutate({ id: saved.id }) : null,
      }
    },
    onSaved: async ({ saved, tested }) => {
      await refresh()
      const about =
        tested === null
          ? ''
          : tested.delivered
            ? '. The test alert was delivered'
            : `. The test alert was refused: ${tested.detail ?? ''}`
      toast(`${saved.name} saved${about}`)
      close()
    },
  })
  const { change, draft } = form
  const kindOf = ({ kind }: Draft) => kinds.data?.items.find((one) => one.kind === kind)
  const kind = kindOf(draft)
  const close = () => {
    form.forget()
    onClose()
  }
  const removal = useRemoval(
    () => creel.alertChannels.remove.mutate({ id: channel?.id ?? '' }),
    async () => {
      await refresh()
      close()
    },
  )
  return (
    <form className="form" onSubmit={form.submit} aria-label={channel?.name ?? 'New channel'}>
      <Problem error={kinds.error} />
      {kinds.data?.items.length === 0 && <p className="banner">Alert channels are not in this plan.</p>}
      <div className="row-2">
        {channel === undefined && (
          <Field label="Kind" problem={form.at('kind')}>
            {(ids) => (
              <select
                {...ids}
                className="select"
                value={draft.kind}
                onChange={({ target }) => change({ kind: target.value })}
              >
                <option value="">Choose…</option>
                {kinds.data?.items.map((one) => (
                  <option key={one.kind} value={one.kind}>
                    {one.displayName}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <Field label="Name" problem={form.at('name')}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              placeholder="#ops"
              value={draft.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
      </div>
      {kind !== undefined && (
        <>
          <Field
            label={kind.credentialLabel}
            problem={form.at('secret')}
            hint={
              channel?.credentialSet === true
                ? `Set ${ago(channel.credentialSetAt)}. Leave blank to keep the current secret.`
                : kind.credentialRequired
                  ? undefined
                  : 'Optional.'
            }
          >
            {(ids) => (
              <input
                {...ids}
                className="input mono"
                autoComplete="off"
                spellCheck={false}
                value={secret}
                onChange={({ target }) => setSecret(target.value)}
              />
            )}
          </Field>
          <div className="row-2">
            {kind.fields.map((field) => (
              <SettingField
                key={field.name}
                field={field}
                problem={form.at(`settings/${field.name}`)}
                value={draft.settings[field.name] ?? ''}
                onChange={(value) => change({ settings: { ...draft.settings, [field.name]: value } })}
              />
            ))}
          </div>
          <EventGrid value={draft.events} onChange={(events) => change({ events })} />
        </>
      )}
      <FormFoot
        form={form}
        shown={['kind', 'name', 'secret', ...(kind?.fields.map(({ name }) => `settings/${name}`) ?? [])]}
        submit={channel === undefined ? 'Create and test' : 'Save'}
        isOff={kind === undefined}
        onCancel={close}
        removal={channel === undefined ? undefined : removal}
        removalWords={`Confirm: delete ${channel?.name ?? ''}`}
      />
    </form>
  )
}

interface Draft {
  readonly kind: string
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  readonly events: Subscriptions | null
}

function draftOf(channel: Channel | undefined): Draft {
  return {
    kind: channel?.kind ?? '',
    name: channel?.name ?? '',
    settings: Object.fromEntries(
      Object.entries(channel?.settings ?? {}).map(([name, value]) => [name, textOf(value)]),
    ),
    events: channel?.events ?? null,
  }
}

function membersOf(
  draft: Draft,
  kind: Kind,
  secret: string,
): Omit<Inputs['alertChannels']['update'], 'id' | 'kind'> {
  return {
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    ...(secret === '' ? {} : { secret }),
    settings: settingsOf(kind.fields, draft.settings),
    ...(draft.events === null ? {} : { events: draft.events }),
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${String(one)}`)
      .join('\n')
  }
  return value === null || value === undefined ? '' : String(value)
}
