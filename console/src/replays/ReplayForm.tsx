import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { Field } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { actionsQuery } from '../requests/queries.ts'
import { type Answers, creel, type Endpoint } from '../trpc.ts'
import { duration, plural } from '../words/format.ts'
import { filtersOf, parseSearch } from '../words/grammar.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'

const URL_CHOICE = 'url'
const SAMPLE = 500
const FAULTS = [
  { name: 'duplicate', words: 'Duplicates', share: 0.1 },
  { name: 'reorder', words: 'Other order', share: 0.1 },
  { name: 'badSignature', words: 'Wrong signatures', share: 0.02 },
  { name: 'drop', words: 'Dropped requests', share: 0.01 },
] as const
const NAMED = ['to/url', 'to/actionId', 'select', 'sign', 'compare/with', 'compare/actionId'] as const

type Planned = Answers['replays']['start']

/** Chooses requests and a destination, shows what would be sent where, and then starts exactly that replay. */
export function ReplayForm({ endpoint }: { endpoint: Endpoint }) {
  const queries = useQueryClient()
  const [params] = useAddress()
  const actions = useQuery(actionsQuery(endpoint.id))
  const [search, setSearch] = useState(params.get('q') ?? '')
  const [url, setUrl] = useState('')
  const [to, setTo] = useState(URL_CHOICE)
  const [sign, setSign] = useState<'as-captured' | 'creel' | 'provider'>('as-captured')
  const [baseline, setBaseline] = useState('recorded')
  const [answersOf, setAnswersOf] = useState('')
  const [perSecond, setPerSecond] = useState('20')
  const [seed, setSeed] = useState('')
  const [faults, setFaults] = useState<ReadonlySet<string>>(new Set())
  const ids = (params.get('requests') ?? '')
    .split(',')
    .flatMap((id) => (/^\d{1,15}$/.test(id) ? [Number(id)] : []))
  const forwards = actions.data?.actions.filter(({ kind }) => kind === 'forward') ?? []
  // Two actions answer the same request differently, so one of them is the baseline.
  const needsAction = baseline === 'recorded' && to === URL_CHOICE && forwards.length > 1
  const compare = {
    with: baseline,
    ...(needsAction ? { actionId: answersOf === '' ? forwards[0]?.id : answersOf } : {}),
  }

  const terms = {
    endpointId: endpoint.id,
    select: ids.length > 0 ? { requestIds: ids } : { filter: filtersOf(parseSearch(search)), sample: SAMPLE },
    to: to === URL_CHOICE ? { url: url.trim(), appendPath: true } : { actionId: to },
    sign,
    pace: { perSecond: Number(perSecond) },
    faults: Object.fromEntries(
      FAULTS.filter(({ name }) => faults.has(name)).map(({ name, share }) => [name, share]),
    ),
    ...(seed === '' ? {} : { seed: Number(seed) }),
    ...(baseline === '' ? {} : { compare }),
  }
  const shape = JSON.stringify(terms)
  const plan = useMutation({
    mutationFn: async () => ({
      shape,
      planned: await creel.replays.start.mutate({ ...terms, dryRun: true }),
    }),
    onMutate: () => start.reset(),
  })
  // A plan of other terms is not what would be sent.
  const planned = plan.data?.shape === shape ? plan.data.planned : undefined
  const start = useMutation({
    // With the seed of the plan: what was shown is what is sent.
    mutationFn: (seedOfPlan: number) => creel.replays.start.mutate({ ...terms, seed: seedOfPlan }),
    onSuccess: () => {
      plan.reset()
      return queries.invalidateQueries({ queryKey: ['replays', endpoint.id] })
    },
  })
  const wrong = start.error ?? plan.error
  const problem = wrong === null ? null : problemOf(wrong)
  const destination =
    to === URL_CHOICE ? url.trim() : (forwards.find(({ id }) => id === to)?.name ?? 'the action')
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        plan.mutate()
      }}
    >
      {ids.length > 0 ? (
        <p>{plural(ids.length, 'selected capture')}</p>
      ) : (
        <Field
          label="Captures"
          problem={problemAt(problem, 'select')}
          hint={`A search as in the list, like label:order.paid since:7d. At most ${SAMPLE} at random; blank means all.`}
        >
          {(attributes) => (
            <input
              {...attributes}
              className="input mono"
              spellCheck={false}
              value={search}
              onChange={({ target }) => setSearch(target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Send" problem={problemAt(problem, 'to/actionId')}>
        {(attributes) => (
          <select {...attributes} className="input" value={to} onChange={({ target }) => setTo(target.value)}>
            <option value={URL_CHOICE}>To a URL</option>
            {forwards.map(({ id, name }) => (
              <option key={id} value={id}>
                Through {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {to === URL_CHOICE && (
        <Field
          label="URL"
          problem={problemAt(problem, 'to/url')}
          hint="The captured path and query follow it. For a server on your machine: creel rehearse --to 3000"
        >
          {(attributes) => (
            <input
              {...attributes}
              className="input mono"
              type="url"
              placeholder="https://staging.example.com/hooks"
              value={url}
              onChange={({ target }) => setUrl(target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Signature" problem={problemAt(problem, 'sign')}>
        {(attributes) => (
          <select
            {...attributes}
            className="input"
            value={sign}
            onChange={({ target }) =>
              setSign(
                target.value === 'provider' ? 'provider' : target.value === 'creel' ? 'creel' : 'as-captured',
              )
            }
          >
            <option value="as-captured">As captured</option>
            <option value="provider">Signed anew, as the provider does</option>
            <option value="creel">With the secret of the action</option>
          </select>
        )}
      </Field>
      <Field label="Compare with" problem={problemAt(problem, 'compare/with')}>
        {(attributes) => (
          <select
            {...attributes}
            className="input"
            value={baseline}
            onChange={({ target }) => setBaseline(target.value)}
          >
            <option value="recorded">Recorded answers</option>
            <option value="first">The first answer to each duplicate</option>
            <option value="">Nothing</option>
          </select>
        )}
      </Field>
      {needsAction && (
        <Field label="Answers of" problem={problemAt(problem, 'compare/actionId')}>
          {(attributes) => (
            <select
              {...attributes}
              className="input"
              value={answersOf}
              onChange={({ target }) => setAnswersOf(target.value)}
            >
              {forwards.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <fieldset className="faults">
        <legend>Faults</legend>
        {FAULTS.map(({ name, words, share }) => (
          <label key={name} className="check">
            <input
              type="checkbox"
              checked={faults.has(name)}
              onChange={({ target }) => {
                const next = new Set(faults)
                if (target.checked) next.add(name)
                else next.delete(name)
                setFaults(next)
              }}
            />
            {words} ({share * 100} %)
          </label>
        ))}
      </fieldset>
      <Field label="Requests a second">
        {(attributes) => (
          <input
            {...attributes}
            className="input"
            type="number"
            min="0.1"
            max="1000"
            step="any"
            value={perSecond}
            onChange={({ target }) => setPerSecond(target.value)}
          />
        )}
      </Field>
      <Field label="Seed" hint="The same seed gives the same rehearsal. Blank means a new one.">
        {(attributes) => (
          <input
            {...attributes}
            className="input"
            type="number"
            min="0"
            value={seed}
            onChange={({ target }) => setSeed(target.value)}
          />
        )}
      </Field>
      <Problems of={problemBeside(problem, NAMED)} />
      {planned !== undefined && <Plan planned={planned} destination={destination} />}
      <div className="form-foot">
        <Button type="submit" disabled={plan.isPending || start.isPending}>
          Dry run
        </Button>
        {planned !== undefined && (
          <Button look="primary" disabled={start.isPending} onClick={() => start.mutate(planned.seed)}>
            Rehearse: send {plural(planned.sendCount, 'request')}
          </Button>
        )}
      </div>
    </form>
  )
}

function Plan({ planned, destination }: { planned: Planned; destination: string }) {
  const { requestCount, matchedCount, sendCount, plannedMs, shown, unsignedCount, seed } = planned
  return (
    <output aria-live="polite">
      <p>
        Would send {plural(sendCount, 'request')} to {destination}: {plural(requestCount, 'capture')} of{' '}
        {matchedCount} that match, in {duration(plannedMs)}, with the seed {seed}.
        {unsignedCount > 0 && ` ${plural(unsignedCount, 'request')} of those shown cannot be signed.`}
      </p>
      {shown.length > 0 && (
        <ol className="mono">
          {shown.map(({ position, method, path, requestId, fault, error }) => (
            <li key={position}>
              {method} {path === '' ? '/' : path} · request {requestId}
              {fault !== null && ` · ${fault}`}
              {error !== null && ` · ${error}`}
            </li>
          ))}
        </ol>
      )}
    </output>
  )
}
