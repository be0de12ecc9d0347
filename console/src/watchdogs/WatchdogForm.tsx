import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import {
  ConditionField,
  conditionOfAddress,
  documentOfText,
  textOfCondition,
} from '../conditions/ConditionField.tsx'
import { isRecord } from '../json.ts'
import { Button } from '../parts/Button.tsx'
import { DurationField, inUnits, secondsOf } from '../parts/DurationField.tsx'
import { CheckField, named, SelectField, TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { toast } from '../parts/Toasts.tsx'
import { type Bound, useForm } from '../parts/useForm.ts'
import { endpointsQuery } from '../queries.ts'
import { type Answers, creel } from '../trpc.ts'
import { interval, plural } from '../words/format.ts'

export type Watchdog = Answers['watchdogs']['list']['items'][number]

const HOUR_SECONDS = 3600

function draftOf(watchdog: Watchdog | undefined, params: URLSearchParams) {
  return {
    endpointId: watchdog?.endpointId ?? params.get('endpoint') ?? '',
    name: watchdog?.name ?? '',
    match: watchdog === undefined ? conditionOfAddress(params) : textOfCondition(watchdog.match),
    every: inUnits(watchdog?.expectedIntervalSeconds ?? HOUR_SECONDS),
    grace: watchdog === undefined ? { amount: '', unit: 'minutes' as const } : inUnits(watchdog.graceSeconds),
    contacts: watchdog?.alertContactIds ?? [],
  }
}

interface FormProps {
  /** Undefined makes one. */
  readonly watchdog: Watchdog | undefined
  readonly onClose: () => void
}

/** Form of a watchdog: the expected requests, their interval, and the contacts to alert. */
export function WatchdogForm({ watchdog: opened, onClose }: FormProps) {
  const [made, setMade] = useState<Watchdog>()
  const watchdog = opened ?? made
  const [params] = useAddress()
  const endpoints = useQuery(endpointsQuery)
  // The newest endpoint at first: one that is made meanwhile must not take its place.
  const newest = useRef<string>(undefined)
  const items = endpoints.data?.items ?? []
  if (!items.some(({ id }) => id === newest.current)) newest.current = items[0]?.id
  const endpointOf = (draft: { readonly endpointId: string }) => draft.endpointId || newest.current || ''
  const form = useForm({
    keptAs: `watchdog ${watchdog?.id ?? `new ${params}`}`,
    begin: () => draftOf(watchdog, params),
    stored:
      watchdog === undefined
        ? undefined
        : async () => draftOf(await creel.watchdogs.get.query({ id: watchdog.id }), params),
    save: (draft) => {
      // A new one without a name or a grace period gets the defaults.
      const hasGrace = watchdog !== undefined || draft.grace.amount.trim() !== ''
      const match = documentOfText(draft.match)
      const members = {
        ...(watchdog === undefined && draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
        match: isRecord(match) ? match : {},
        expectedIntervalSeconds: secondsOf(draft.every),
        ...(hasGrace ? { graceSeconds: secondsOf(draft.grace) } : {}),
        alertContactIds: [...draft.contacts],
      }
      return watchdog === undefined
        ? creel.watchdogs.create.mutate({ endpointId: endpointOf(draft), ...members })
        : creel.watchdogs.update.mutate({ id: watchdog.id, ...members })
    },
    draftOfSaved: (saved) => draftOf(saved, params),
    remove:
      watchdog === undefined
        ? undefined
        : async () => {
            await creel.watchdogs.remove.mutate({ id: watchdog.id })
            toast('Deleted')
          },
    stale: [['watchdogs']],
    tell: ({ name }) => toast(`${name} saved`),
    ends: 'closed',
    onSaved: (saved, typed) => {
      if (typed() !== undefined) setMade(saved)
    },
    onClose,
  })
  const { change, draft } = form
  const endpointId = endpointOf(draft)
  const match = documentOfText(draft.match)
  return (
    <form className="form card" onSubmit={form.submit} aria-label={watchdog?.name ?? 'New watchdog'}>
      <div className="row-2">
        <SelectField
          label="Endpoint"
          isDisabled={watchdog !== undefined}
          options={named(items)}
          {...form.field('endpointId')}
          value={endpointId}
        />
        <TextField
          label="Name"
          placeholder="Nightly export"
          hint={watchdog === undefined ? 'Defaults to the endpoint’s name.' : undefined}
          {...form.field('name')}
        />
      </div>
      {endpointId !== '' && (
        <>
          <ConditionField
            endpointId={endpointId}
            label="Condition"
            member="match"
            problems={form.problem}
            {...form.field('match')}
          />
          <Suggestion
            endpointId={endpointId}
            match={match}
            onUse={(every, grace) => change({ every: inUnits(every), grace: inUnits(grace) })}
          />
        </>
      )}
      <div className="row-2">
        <DurationField label="Expected every" {...form.field('every', 'expectedIntervalSeconds')} />
        <DurationField
          label="Grace period"
          hint={watchdog === undefined ? 'Defaults to a fifth of the interval.' : undefined}
          {...form.field('grace', 'graceSeconds')}
        />
      </div>
      <ContactsField {...form.field('contacts', 'alertContactIds')} />
      <FormFoot
        form={form}
        submit={watchdog === undefined ? 'Create watchdog' : 'Save'}
        isOff={!isRecord(match)}
      />
    </form>
  )
}

/** Choice of the contacts that get alarms by mail, in addition to the alert channels. */
function ContactsField({ problem, value, onChange }: Bound<string[]>) {
  const contacts = useQuery({ queryKey: ['contacts'], queryFn: () => creel.contacts.list.query({}) })
  const items = contacts.data?.items ?? []
  return (
    <fieldset className="field">
      <legend className="label">Notify</legend>
      <p className="hint">
        The{' '}
        <Link className="link" href="/alerts">
          alert channels
        </Link>{' '}
        with watchdog events
        {items.length > 0 ? ', and by mail:' : '.'}
      </p>
      <div className="acts">
        {items.map(({ email, id, name }) => (
          <CheckField
            key={id}
            label={name ?? email}
            value={value.includes(id)}
            onChange={(isOn) => onChange(isOn ? [...value, id] : value.filter((one) => one !== id))}
          />
        ))}
      </div>
      {problem !== '' && <p className="field-problem">{problem}</p>}
    </fieldset>
  )
}

interface Props {
  readonly endpointId: string
  /** Undefined while it cannot be parsed. */
  readonly match: unknown
  readonly onUse: (everySeconds: number, graceSeconds: number) => void
}

/** The interval that the history suggests, with a button to use it. */
function Suggestion({ endpointId, match, onUse }: Props) {
  const text = match === undefined ? undefined : JSON.stringify(match)
  const suggestion = useQuery({
    queryKey: ['suggestion', endpointId, text],
    queryFn: () => creel.watchdogs.suggest.query({ endpointId, match: text === '{}' ? undefined : text }),
    enabled: text !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const said = suggestion.data
  if (said === undefined) return null
  const { available, expectedIntervalSeconds, graceSeconds, observedP90Seconds, reason, samples } = said
  if (!available || expectedIntervalSeconds === null || graceSeconds === null) {
    return <p className="hint">No interval can be suggested yet. {reason}</p>
  }
  return (
    <p className="acts">
      <span>
        In {plural(samples, 'capture')}, 90 % of the gaps are at most {interval(observedP90Seconds ?? 0)}.
        Suggested: every <b>{interval(expectedIntervalSeconds)}</b>, <b>{interval(graceSeconds)}</b> grace.
      </span>
      <Button look="small" onClick={() => onUse(expectedIntervalSeconds, graceSeconds)}>
        Use
      </Button>
    </p>
  )
}
