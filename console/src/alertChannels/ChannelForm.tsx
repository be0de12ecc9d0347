import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { toast } from '../parts/toasts.ts'
import { usePersisted } from '../parts/usePersisted.ts'
import { type Answers, creel, type Inputs } from '../trpc.ts'
import { ago } from '../words/format.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import type { Channel, Subscriptions } from './channel.ts'
import { EventGrid } from './EventGrid.tsx'
import { SettingField, settingsOf } from './SettingField.tsx'

type Kind = Answers['alertChannels']['kinds']['items'][number]

/** Adds a channel and tests it, or changes one. Credentials are written, never read. */
export function ChannelForm({ channel, onClose }: { channel: Channel | undefined; onClose: () => void }) {
  const queries = useQueryClient()
  const kinds = useQuery({
    queryKey: ['channel kinds'],
    queryFn: () => creel.alertChannels.kinds.query({}),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [draft, setDraft, forget] = usePersisted<{
    kind: string
    name: string
    settings: Record<string, string>
    events: Subscriptions | null
  }>(`channel ${channel?.id ?? 'new'}`, () => ({
    kind: channel?.kind ?? '',
    name: channel?.name ?? '',
    settings: Object.fromEntries(
      Object.entries(channel?.settings ?? {}).map(([name, value]) => [name, textOf(value)]),
    ),
    events: channel?.events ?? null,
  }))
  const [secret, setSecret] = useState('')
  const [isRemoving, setRemoving] = useState(false)
  const kind = kinds.data?.items.find((one) => one.kind === draft.kind)
  const refresh = () => queries.invalidateQueries({ queryKey: ['channels'] })
  const close = () => {
    forget()
    onClose()
  }
  const save = useMutation({
    mutationFn: async () => {
      if (kind === undefined) throw new Error('Choose a kind first.')
      const members = membersOf(draft, kind, secret)
      if (channel !== undefined)
        return {
          tested: null,
          saved: await creel.alertChannels.update.mutate({ id: channel.id, ...members }),
        }
      const saved = await creel.alertChannels.create.mutate({ kind: kind.kind, ...members })
      return {
        saved,
        tested: saved.connected ? await creel.alertChannels.test.mutate({ id: saved.id }) : null,
      }
    },
    onSuccess: async ({ saved, tested }) => {
      await refresh()
      const about =
        tested === null
          ? ''
          : tested.delivered
            ? ', and its test arrived'
            : `, but its test was refused: ${tested.detail ?? ''}`
      toast(`${saved.name} saved${about}`)
      close()
    },
  })
  const remove = useMutation({
    mutationFn: (id: string) => creel.alertChannels.remove.mutate({ id }),
    onSuccess: async () => {
      await refresh()
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
    <form className="form" onSubmit={submit} aria-label={channel?.name ?? 'New channel'}>
      <Problem error={kinds.error} />
      {kinds.data?.items.length === 0 && <p className="banner">Alert channels are not in this plan.</p>}
      <div className="row-2">
        {channel === undefined && (
          <Field label="Kind" problem={problemAt(problem, 'kind')}>
            {(ids) => (
              <select
                {...ids}
                className="select"
                value={draft.kind}
                onChange={({ target }) => setDraft({ ...draft, kind: target.value })}
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
        <Field label="Name" problem={problemAt(problem, 'name')}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              placeholder="#ops"
              value={draft.name}
              onChange={({ target }) => setDraft({ ...draft, name: target.value })}
            />
          )}
        </Field>
      </div>
      {kind !== undefined && (
        <>
          <Field
            label={kind.credentialLabel}
            problem={problemAt(problem, 'secret')}
            hint={
              channel?.credentialSet === true
                ? `Set ${ago(channel.credentialSetAt)}. Left empty, it stays.`
                : kind.credentialRequired
                  ? undefined
                  : 'May be left out.'
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
                problem={problemAt(problem, `settings/${field.name}`)}
                value={draft.settings[field.name] ?? ''}
                onChange={(value) =>
                  setDraft({ ...draft, settings: { ...draft.settings, [field.name]: value } })
                }
              />
            ))}
          </div>
          <EventGrid value={draft.events} onChange={(events) => setDraft({ ...draft, events })} />
        </>
      )}
      {problemBeside(problem, [
        'kind',
        'name',
        'secret',
        ...(kind?.fields.map(({ name }) => `settings/${name}`) ?? []),
      ]).map((detail) => (
        <p key={detail} className="problem" role="alert">
          {detail}
        </p>
      ))}
      <div className="form-foot">
        <button type="submit" className="button primary" disabled={save.isPending || kind === undefined}>
          {save.isPending ? 'Saving…' : channel === undefined ? 'Create and test' : 'Save'}
        </button>
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <span className="grow" />
        {channel !== undefined && (
          <button
            type="button"
            className="button danger"
            onClick={() => (isRemoving ? remove.mutate(channel.id) : setRemoving(true))}
          >
            {isRemoving ? `Really delete ${channel.name}` : 'Delete…'}
          </button>
        )}
      </div>
    </form>
  )
}

type Draft = {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  readonly events: Subscriptions | null
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
