import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAddress } from '../address.ts'
import { isRecord } from '../body/isRecord.ts'
import {
  ALWAYS_TEXT,
  ConditionField,
  documentOfText,
  textOfCondition,
} from '../conditions/ConditionField.tsx'
import { EMPTY_LEAF } from '../conditions/model.ts'
import { Field } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { toast } from '../parts/toasts.ts'
import { useForm, useRemoval } from '../parts/useForm.ts'
import { endpointsQuery } from '../shell/queries.ts'
import { creel } from '../trpc.ts'
import { DurationInput } from './DurationInput.tsx'
import { Suggestion } from './Suggestion.tsx'
import { WhoIsTold } from './WhoIsTold.tsx'
import { inUnits, secondsOf, type Watchdog } from './words.ts'

const MEMBERS = ['endpointId', 'name', 'match', 'expectedIntervalSeconds', 'graceSeconds', 'alertContactIds']
const HOUR = 3600

function draftOf(watchdog: Watchdog | undefined, params: URLSearchParams) {
  const path = params.get('path')
  const match =
    watchdog !== undefined
      ? textOfCondition(watchdog.match)
      : path === null
        ? ALWAYS_TEXT
        : ({
            as: 'builder',
            draft: {
              kind: 'group',
              mode: 'all',
              items: [{ ...EMPTY_LEAF, path, value: params.get('value') ?? '' }],
            },
          } as const)
  return {
    endpointId: watchdog?.endpointId ?? params.get('endpoint') ?? '',
    name: watchdog?.name ?? '',
    match,
    every: inUnits(watchdog?.expectedIntervalSeconds ?? HOUR),
    grace: watchdog === undefined ? { amount: '', unit: 'minutes' as const } : inUnits(watchdog.graceSeconds),
    contacts: watchdog?.alertContactIds ?? [],
  }
}

/** Form of a watchdog: the expected requests, their interval, and the contacts to alert. */
export function WatchdogForm({ watchdog, onClose }: { watchdog: Watchdog | undefined; onClose: () => void }) {
  const queries = useQueryClient()
  const [params] = useAddress()
  const endpoints = useQuery(endpointsQuery)
  const endpointOf = (draft: { readonly endpointId: string }) =>
    draft.endpointId || endpoints.data?.items[0]?.id || ''
  const form = useForm({
    keptAs: `watchdog ${watchdog?.id ?? `new ${params}`}`,
    begin: () => draftOf(watchdog, params),
    stored:
      watchdog === undefined
        ? undefined
        : async () => draftOf(await creel.watchdogs.get.query({ id: watchdog.id }), params),
    save: (draft) => {
      const grace = secondsOf(draft.grace)
      const match = documentOfText(draft.match)
      const members = {
        ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
        match: isRecord(match) ? match : {},
        expectedIntervalSeconds: secondsOf(draft.every),
        ...(Number.isNaN(grace) ? {} : { graceSeconds: grace }),
        alertContactIds: [...draft.contacts],
      }
      return watchdog === undefined
        ? creel.watchdogs.create.mutate({ endpointId: endpointOf(draft), ...members })
        : creel.watchdogs.update.mutate({ id: watchdog.id, ...members })
    },
    onSaved: ({ name }) => done(`${name} saved`),
  })
  const { change, draft, problem } = form
  const endpointId = endpointOf(draft)
  const close = () => {
    form.forget()
    onClose()
  }
  const done = async (words: string) => {
    await queries.invalidateQueries({ queryKey: ['watchdogs'] })
    toast(words)
    close()
  }
  const removal = useRemoval(
    () => creel.watchdogs.remove.mutate({ id: watchdog?.id ?? '' }),
    () => done('Deleted'),
  )
  return (
    <form className="form card" onSubmit={form.submit} aria-label={watchdog?.name ?? 'New watchdog'}>
      <div className="row-2">
        <Field label="Endpoint" problem={form.at('endpointId')}>
          {(ids) => (
            <select
              {...ids}
              className="select"
              disabled={watchdog !== undefined}
              value={endpointId}
              onChange={({ target }) => change({ endpointId: target.value })}
            >
              {endpoints.data?.items.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Name" problem={form.at('name')} hint="Defaults to the endpoint’s name.">
          {(ids) => (
            <input
              {...ids}
              className="input"
              placeholder="Nightly export"
              value={draft.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
      </div>
      {endpointId !== '' && (
        <>
          <ConditionField
            endpointId={endpointId}
            label="Condition"
            member="match"
            problem={problem}
            value={draft.match}
            onChange={(next) => change({ match: next })}
          />
          <Suggestion
            endpointId={endpointId}
            match={documentOfText(draft.match)}
            onUse={(every, grace) => change({ every: inUnits(every), grace: inUnits(grace) })}
          />
        </>
      )}
      <div className="row-2">
        <DurationInput
          label="Expected every"
          problem={form.at('expectedIntervalSeconds')}
          value={draft.every}
          onChange={(every) => change({ every })}
        />
        <DurationInput
          label="Grace period"
          problem={form.at('graceSeconds')}
          hint="Defaults to a fifth of the interval."
          value={draft.grace}
          onChange={(grace) => change({ grace })}
        />
      </div>
      <WhoIsTold
        problem={form.at('alertContactIds')}
        chosen={draft.contacts}
        onChange={(contacts) => change({ contacts })}
      />
      <FormFoot
        form={form}
        shown={MEMBERS}
        submit={watchdog === undefined ? 'Create watchdog' : 'Save'}
        onCancel={close}
        removal={watchdog === undefined ? undefined : removal}
      />
    </form>
  )
}
