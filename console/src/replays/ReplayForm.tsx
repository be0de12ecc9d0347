import { useQuery } from '@tanstack/react-query'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { CheckField, named, SelectField, TextField } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { useCall, useForm } from '../parts/useForm.ts'
import { actionsQuery } from '../queries.ts'
import { type Answers, creel, type Endpoint, type Inputs } from '../trpc.ts'
import { duration, plural } from '../words/format.ts'
import { filtersOf, parseSearch } from '../words/grammar.ts'
import { problemBeside, problemOf } from '../words/problem.ts'

const SAMPLE = 500
const FAULTS = [
  { name: 'duplicate', words: 'Duplicates', share: 0.1 },
  { name: 'reorder', words: 'Other order', share: 0.1 },
  { name: 'badSignature', words: 'Wrong signatures', share: 0.02 },
  { name: 'drop', words: 'Dropped requests', share: 0.01 },
] as const
const SIGNATURES = [
  { value: 'as-captured', words: 'As captured' },
  { value: 'provider', words: 'Signed again, as the provider does' },
  { value: 'creel', words: 'With the secret of the action' },
] as const
const BASELINES = [
  { value: 'recorded', words: 'Recorded answers' },
  { value: 'first', words: 'The first answer to each duplicate' },
  { value: '', words: 'Nothing' },
] as const

interface Plan {
  readonly terms: Inputs['replays']['start']
  readonly planned: Answers['replays']['start']
}

interface Draft {
  readonly search: string
  readonly url: string
  /** The action to send through; empty for the URL. */
  readonly actionId: string
  readonly sign: (typeof SIGNATURES)[number]['value']
  readonly baseline: (typeof BASELINES)[number]['value']
  /** The action whose answers are the baseline; empty for the first. */
  readonly answersOf: string
  readonly perSecond: string
  readonly seed: string
  readonly faults: readonly string[]
}

/** Chooses requests and a destination, shows what would be sent where, and then starts exactly that replay. */
export function ReplayForm({ endpoint }: { endpoint: Endpoint }) {
  const [params] = useAddress()
  const actions = useQuery(actionsQuery(endpoint.id))
  const ids = (params.get('requests') ?? '')
    .split(',')
    .flatMap((id) => (/^\d{1,15}$/.test(id) ? [Number(id)] : []))
  const forwards = actions.data?.actions.filter(({ kind }) => kind === 'forward') ?? []
  // Two actions answer the same request differently, so one of them is the baseline.
  const needsAction = ({ actionId, baseline }: Draft) =>
    baseline === 'recorded' && actionId === '' && forwards.length > 1
  /** The captures that are stored now: what arrives after the plan is not part of it. */
  const selectOf = async ({ search }: Draft) => {
    if (ids.length > 0) return { requestIds: ids }
    const filter = filtersOf(parseSearch(search))
    // Ends at the latest capture by the service's clock. An imported capture has a new id but an old time.
    const { lastRequestAt } = await creel.endpoints.get.query({ endpointId: endpoint.id })
    const end = lastRequestAt === null ? undefined : new Date(Date.parse(lastRequestAt) + 1).toISOString()
    return { filter: { ...filter, until: filter.until ?? end }, sample: SAMPLE }
  }
  const termsOf = async (draft: Draft) => ({
    endpointId: endpoint.id,
    select: await selectOf(draft),
    to: draft.actionId === '' ? { url: draft.url.trim(), appendPath: true } : { actionId: draft.actionId },
    sign: draft.sign,
    pace: { perSecond: Number(draft.perSecond) },
    faults: Object.fromEntries(
      FAULTS.filter(({ name }) => draft.faults.includes(name)).map(({ name, share }) => [name, share]),
    ),
    ...(draft.seed === '' ? {} : { seed: Number(draft.seed) }),
    ...(draft.baseline !== '' && {
      compare: {
        with: draft.baseline,
        ...(needsAction(draft) && { actionId: draft.answersOf || forwards[0]?.id }),
      },
    }),
  })
  const plan = useForm({
    keptAs: `replays ${endpoint.id} ${params}`,
    begin: (): Draft => ({
      search: params.get('q') ?? '',
      url: '',
      actionId: '',
      sign: 'as-captured',
      baseline: 'recorded',
      answersOf: '',
      perSecond: '20',
      seed: '',
      faults: [],
    }),
    save: async (planOf) => {
      start.reset()
      const terms = await termsOf(planOf)
      return { planOf, terms, planned: await creel.replays.start.mutate({ ...terms, dryRun: true }) }
    },
  })
  const { draft } = plan
  const start = useCall(
    // With the terms and the seed of the plan: what was shown is what is sent.
    ({ planned: { seed }, terms }: Plan) => creel.replays.start.mutate({ ...terms, seed }),
    [['replays', endpoint.id]],
    plan.forget,
  )
  // A plan of other terms is not what would be sent, and one that was started is done with.
  const isCurrent = JSON.stringify(plan.saved?.planOf) === JSON.stringify(draft) && !start.isSuccess
  const current = isCurrent ? plan.saved : undefined
  const { actionId, faults, search, url } = draft
  // The list leaves such words out and shows more. A rehearsal would send more than was asked for.
  const misread = (ids.length > 0 ? [] : parseSearch(search))
    .flatMap(({ problem, typed }) => (problem === undefined ? [] : [`${typed}: ${problem}.`]))
    .join(' ')
  const destination =
    actionId === '' ? url.trim() : (forwards.find(({ id }) => id === actionId)?.name ?? 'the action')
  const through = forwards.map(({ id, name }) => ({ id, name: `Through ${name}` }))
  return (
    <form className="form" onSubmit={plan.submit}>
      {ids.length > 0 ? (
        <p>{plural(ids.length, 'selected capture')}</p>
      ) : (
        <TextField
          label="Captures"
          kind="code"
          hint={`A search as in the list, like label:order.paid since:7d. At most ${SAMPLE} at random; blank means all.`}
          {...plan.field('search', 'select')}
          {...(misread !== '' && { problem: misread })}
        />
      )}
      <SelectField
        label="Send"
        options={named(through, 'To a URL')}
        {...plan.field('actionId', 'to/actionId')}
      />
      {actionId === '' && (
        <TextField
          label="URL"
          kind="url"
          placeholder="https://staging.example.com/hooks"
          hint="The captured path and query follow it. For a server on your machine: creel rehearse --to 3000"
          {...plan.field('url', 'to/url')}
        />
      )}
      <SelectField label="Signature" options={SIGNATURES} {...plan.field('sign')} />
      <SelectField label="Compare with" options={BASELINES} {...plan.field('baseline', 'compare/with')} />
      {needsAction(draft) && (
        <SelectField
          label="Answers of"
          options={named(forwards)}
          {...plan.field('answersOf', 'compare/actionId')}
          value={draft.answersOf || (forwards[0]?.id ?? '')}
        />
      )}
      <fieldset className="faults">
        <legend>Faults</legend>
        {FAULTS.map(({ name, words, share }) => (
          <CheckField
            key={name}
            label={`${words} (${share * 100} %)`}
            value={faults.includes(name)}
            onChange={(isOn) =>
              plan.change({ faults: isOn ? [...faults, name] : faults.filter((one) => one !== name) })
            }
          />
        ))}
      </fieldset>
      <TextField label="Requests a second" kind="number" {...plan.field('perSecond', 'pace/perSecond')} />
      <TextField
        label="Seed"
        kind="number"
        hint="The same seed gives the same rehearsal. Blank means a new one."
        {...plan.field('seed')}
      />
      <Problems of={start.error === null ? plan.beside() : problemBeside(problemOf(start.error), [])} />
      {current !== undefined && <Planned planned={current.planned} destination={destination} />}
      <div className="form-foot">
        <Button type="submit" disabled={plan.isSaving || start.isPending || misread !== ''}>
          Dry run
        </Button>
        {current !== undefined && (
          <Button look="primary" {...start.button(current)}>
            Rehearse: send {plural(current.planned.sendCount, 'request')}
          </Button>
        )}
      </div>
    </form>
  )
}

function Planned({ planned, destination }: Pick<Plan, 'planned'> & { destination: string }) {
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
