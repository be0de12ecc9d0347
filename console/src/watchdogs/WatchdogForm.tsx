import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useAddress } from '../address.ts'
import {
  ALWAYS_TEXT,
  ConditionField,
  documentOfText,
  textOfCondition,
} from '../conditions/ConditionField.tsx'
import { EMPTY_LEAF } from '../conditions/model.ts'
import { Field } from '../parts/Field.tsx'
import { toast } from '../parts/toasts.ts'
import { usePersisted } from '../parts/usePersisted.ts'
import { endpointsQuery } from '../shell/queries.ts'
import { creel } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
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

/** What is expected, how often, and who is told when it stays away. */
export function WatchdogForm({ watchdog, onClose }: { watchdog: Watchdog | undefined; onClose: () => void }) {
  const queries = useQueryClient()
  const [params] = useAddress()
  const endpoints = useQuery(endpointsQuery)
  const [draft, setDraft, forget] = usePersisted(`watchdog ${watchdog?.id ?? `new ${params}`}`, () =>
    draftOf(watchdog, params),
  )
  const [isRemoving, setRemoving] = useState(false)
  const endpointId = draft.endpointId || endpoints.data?.items[0]?.id || ''
  const close = () => {
    forget()
    onClose()
  }
  const done = async (words: string) => {
    await queries.invalidateQueries({ queryKey: ['watchdogs'] })
    toast(words)
    close()
  }
  const match = documentOfText(draft.match)
  const save = useMutation({
    mutationFn: () => {
      const grace = secondsOf(draft.grace)
      const members = {
        ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
        match: isRecord(match) ? match : {},
        expectedIntervalSeconds: secondsOf(draft.every),
        ...(Number.isNaN(grace) ? {} : { graceSeconds: grace }),
        alertContactIds: [...draft.contacts],
      }
      return watchdog === undefined
        ? creel.watchdogs.create.mutate({ endpointId, ...members })
        : creel.watchdogs.update.mutate({ id: watchdog.id, ...members })
    },
    onSuccess: ({ name }) => done(`${name} watches`),
  })
  const remove = useMutation({
    mutationFn: (id: string) => creel.watchdogs.remove.mutate({ id }),
    onSuccess: () => done('Deleted'),
  })
  const error = save.error ?? remove.error
  const problem = error === null ? null : problemOf(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className="form card" onSubmit={submit} aria-label={watchdog?.name ?? 'New watchdog'}>
      <div className="row-2">
        <Field label="Endpoint" problem={problemAt(problem, 'endpointId')}>
          {(ids) => (
            <select
              {...ids}
              className="select"
              disabled={watchdog !== undefined}
              value={endpointId}
              onChange={({ target }) => setDraft({ ...draft, endpointId: target.value })}
            >
              {endpoints.data?.items.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Name"
          problem={problemAt(problem, 'name')}
          hint="Left out, it is called as its endpoint."
        >
          {(ids) => (
            <input
              {...ids}
              className="input"
              placeholder="Nightly export"
              value={draft.name}
              onChange={({ target }) => setDraft({ ...draft, name: target.value })}
            />
          )}
        </Field>
      </div>
      {endpointId !== '' && (
        <>
          <ConditionField
            endpointId={endpointId}
            label="Counts as a match"
            member="match"
            problem={problem}
            value={draft.match}
            onChange={(next) => setDraft({ ...draft, match: next })}
          />
          <Suggestion
            endpointId={endpointId}
            match={match}
            onUse={(every, grace) => setDraft({ ...draft, every: inUnits(every), grace: inUnits(grace) })}
          />
        </>
      )}
      <div className="row-2">
        <DurationInput
          label="Expected every"
          problem={problemAt(problem, 'expectedIntervalSeconds')}
          value={draft.every}
          onChange={(every) => setDraft({ ...draft, every })}
        />
        <DurationInput
          label="May be late by"
          problem={problemAt(problem, 'graceSeconds')}
          hint="Left out: a fifth of the interval."
          value={draft.grace}
          onChange={(grace) => setDraft({ ...draft, grace })}
        />
      </div>
      <WhoIsTold
        problem={problemAt(problem, 'alertContactIds')}
        chosen={draft.contacts}
        onChange={(contacts) => setDraft({ ...draft, contacts })}
      />
      {problemBeside(problem, MEMBERS).map((detail) => (
        <p key={detail} className="problem" role="alert">
          {detail}
        </p>
      ))}
      <div className="form-foot">
        <button type="submit" className="button primary" disabled={save.isPending}>
          {save.isPending ? 'Saving…' : watchdog === undefined ? 'Arm it' : 'Save'}
        </button>
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
        <span className="grow" />
        {watchdog !== undefined && (
          <button
            type="button"
            className="button danger"
            onClick={() => (isRemoving ? remove.mutate(watchdog.id) : setRemoving(true))}
          >
            {isRemoving ? 'Really delete it' : 'Delete…'}
          </button>
        )}
      </div>
    </form>
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
