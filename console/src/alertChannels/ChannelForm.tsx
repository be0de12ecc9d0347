import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { CheckField, choices, Select, SelectField, TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Problem } from '../parts/Problem.tsx'
import { toast } from '../parts/Toasts.tsx'
import { useForm } from '../parts/useForm.ts'
import { type Answers, creel } from '../trpc.ts'
import { ago } from '../words/format.ts'
import { headerLines, headersOf } from '../words/headers.ts'
import { problemOf } from '../words/problem.ts'

export type Channel = Answers['alertChannels']['list']['items'][number]
type Subscriptions = Channel['events']

const alertEventsQuery = queryOptions({
  queryKey: ['alert events'],
  queryFn: () => creel.alertChannels.events.query({}),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The name of a kind of event, as the form of a channel lists it. */
export function useEventName(): (kind: string) => string {
  const events = useQuery(alertEventsQuery)
  return (kind) =>
    kind === 'channel.test'
      ? 'Test message'
      : (events.data?.items.find((one) => one.kind === kind)?.displayName ?? kind)
}

export const CHANNELS = ['channels']

interface FormProps {
  /** Undefined adds one. */
  readonly channel: Channel | undefined
  readonly onClose: () => void
}

/** Adds a channel and tests it, or changes one. Credentials can be set, but not read. */
export function ChannelForm({ channel: opened, onClose }: FormProps) {
  const [made, setMade] = useState<Channel>()
  const channel = opened ?? made
  const kinds = useQuery({
    queryKey: ['channel kinds'],
    queryFn: () => creel.alertChannels.kinds.query({}),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const kindOf = (name: string) => kinds.data?.items.find(({ kind }) => kind === name)
  // Credentials are never kept in the browser.
  const [secret, setSecret] = useState('')
  const sentSecret = useRef(secret)
  const form = useForm({
    keptAs: `channel ${channel?.id ?? 'new'}`,
    begin: () => draftOf(channel),
    stored:
      channel === undefined
        ? undefined
        : async () => draftOf(await creel.alertChannels.get.query({ id: channel.id })),
    save: async ({ events, kind: kindName, name, settings }) => {
      const kind = kindOf(kindName)
      if (kind === undefined) throw new Error('Choose a kind.')
      sentSecret.current = secret
      const members = {
        // A new one without a name gets that of its kind.
        ...(channel === undefined && name.trim() === '' ? {} : { name: name.trim() }),
        ...(secret === '' ? {} : { secret }),
        settings: settingsOf(kind.fields, settings),
        ...(events === null ? {} : { events }),
      }
      if (channel !== undefined) {
        return { saved: await creel.alertChannels.update.mutate({ id: channel.id, ...members }), tested: '' }
      }
      const saved = await creel.alertChannels.create.mutate({ kind: kind.kind, ...members })
      return { saved, tested: saved.connected ? await testOf(saved) : '' }
    },
    draftOfSaved: ({ saved }) => draftOf(saved),
    remove: channel === undefined ? undefined : () => creel.alertChannels.remove.mutate({ id: channel.id }),
    stale: [CHANNELS],
    tell: ({ saved, tested }) => toast(`${saved.name} saved${tested}`),
    onSaved: ({ saved }, typed) => {
      const isSecretSaved = secret === sentSecret.current
      if (isSecretSaved && typed() === undefined) form.close()
      else {
        setMade(saved)
        if (isSecretSaved) setSecret('')
      }
    },
    onClose,
  })
  const { change, draft } = form
  const kind = kindOf(draft.kind)
  const options = kinds.data?.items.map((one) => ({ value: one.kind, words: one.displayName })) ?? []
  return (
    <form className="form" onSubmit={form.submit} aria-label={channel?.name ?? 'New channel'}>
      <Problem error={kinds.error} />
      {kinds.data?.items.length === 0 && <p className="banner">Alert channels are not in this plan.</p>}
      <div className="row-2">
        {channel === undefined && (
          <SelectField
            label="Kind"
            options={[{ value: '', words: 'Choose…' }, ...options]}
            {...form.field('kind')}
          />
        )}
        <TextField label="Name" placeholder="#ops" {...form.field('name')} />
      </div>
      {kind !== undefined && (
        <>
          <TextField
            label={kind.credentialLabel}
            kind="code"
            hint={
              channel?.credentialSet === true
                ? `Set ${ago(channel.credentialSetAt)}. Leave blank to keep the current secret.`
                : kind.credentialRequired
                  ? undefined
                  : 'Optional.'
            }
            value={secret}
            problem={form.at('secret')}
            onChange={setSecret}
          />
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
        submit={channel === undefined ? 'Create and test' : 'Save'}
        isOff={kind === undefined}
        removalWords={`Confirm: delete ${channel?.name ?? ''}`}
      />
    </form>
  )
}

/** Sends a test alert. @returns the end of a sentence that tells its result; the channel is saved in any case */
async function testOf({ id }: Pick<Channel, 'id'>): Promise<string> {
  try {
    const { delivered, detail } = await creel.alertChannels.test.mutate({ id })
    return delivered ? '. The test alert was delivered' : `. The test alert was refused: ${detail ?? ''}`
  } catch (error) {
    return `. It could not be tested: ${problemOf(error).detail}`
  }
}

const draftOf = (channel: Channel | undefined) => ({
  kind: channel?.kind ?? '',
  name: channel?.name ?? '',
  settings: typedSettings(channel?.settings ?? {}),
  events: channel?.events ?? null,
})

const SEVERITIES = [
  { value: 'info', words: 'all' },
  { value: 'warning', words: 'warnings and errors' },
  { value: 'error', words: 'errors' },
] as const

interface Props {
  /** Null for all events. */
  readonly value: Subscriptions | null
  readonly onChange: (value: Subscriptions) => void
}

function EventGrid({ value, onChange }: Props) {
  const events = useQuery(alertEventsQuery)
  const items = events.data?.items ?? []
  const now: Subscriptions = value ?? items.map(({ kind }) => ({ kind, minSeverity: 'info' as const }))
  const lowest = now[0]?.minSeverity ?? 'info'
  const isOne = now.every(({ minSeverity }) => minSeverity === lowest)
  const common = isOne ? SEVERITIES.find((one) => one.value === lowest)?.value : undefined
  return (
    <fieldset className="field">
      <legend className="label">Notify about</legend>
      <Select
        label="Severity"
        value={common ?? ''}
        options={[
          ...(common === undefined ? [{ value: '' as const, words: 'as set for each event' }] : []),
          ...SEVERITIES,
        ]}
        onChange={(minSeverity) => {
          if (minSeverity !== '') onChange(now.map(({ kind }) => ({ kind, minSeverity })))
        }}
      />
      <ul>
        {items.map(({ description, displayName, kind }) => {
          const others = now.filter((one) => one.kind !== kind)
          return (
            <li key={kind} className="acts" title={description}>
              <CheckField
                label={displayName}
                value={others.length < now.length}
                onChange={(isOn) =>
                  onChange(isOn ? [...others, { kind, minSeverity: common ?? 'info' }] : others)
                }
              />
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}

type SettingDefinition = Answers['alertChannels']['kinds']['items'][number]['fields'][number]

interface SettingFieldProps {
  readonly field: SettingDefinition
  readonly problem: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** Control of one setting of a channel, by the setting's type. */
function SettingField({ field: { help, label, options, required, type }, ...rest }: SettingFieldProps) {
  const shared = { ...rest, label: required ? label : `${label} (optional)`, hint: help ?? undefined }
  if (options !== null) {
    const none = { value: '', words: required ? 'Choose…' : 'Default' }
    return <SelectField {...shared} options={[none, ...choices(...options)]} />
  }
  if (type === 'headers') return <TextField {...shared} rows={2} placeholder="Name: value" />
  return (
    <TextField
      {...shared}
      kind={type === 'url' ? 'url' : 'text'}
      {...(type === 'integer' && { inputMode: 'numeric' })}
    />
  )
}

/**
 * Converts typed settings to the API's input: numbers as numbers, fields as an object. Empty settings return to their
 * default.
 */
function settingsOf(
  fields: readonly SettingDefinition[],
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  for (const { name, type } of fields) {
    const value = typed[name]
    if (value === undefined) continue
    if (type === 'integer' && /^-?\d+$/.test(value)) settings[name] = Number(value)
    else if (type === 'headers' && value.trim() !== '') settings[name] = headersOf(value)
    else settings[name] = value
  }
  return settings
}

const typedSettings = (settings: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, textOf(value)]))

function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return headerLines({ ...value }).join('\n')
  return value === null || value === undefined ? '' : String(value)
}
