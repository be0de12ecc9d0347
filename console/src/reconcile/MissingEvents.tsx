import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Clock } from '../parts/Clock.tsx'
import { SelectField, TextField } from '../parts/Field.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { useForm } from '../parts/useForm.ts'
import { gapsQuery, isUnderWay, providersQuery, type Reconciliation, runsQuery } from '../queries.ts'
import { type Answers, creel, type Endpoint } from '../trpc.ts'
import { ago, count, fullTime, plural } from '../words/format.ts'

/** Events that never came: gaps in the sender's sequence, and what the sender's list says. Nothing where neither can be seen. */
export function MissingEvents({ endpoint }: { endpoint: Endpoint }) {
  const providers = useQuery(providersQuery)
  const provider = providers.data?.items.find(({ slug }) => slug === endpoint.provider)
  if (provider === undefined || endpoint.eventIdPath !== null) return null
  if (!provider.sequence && !provider.reconcilable) return null
  return (
    <section className="card" id="missing" aria-label="Missing events">
      <h2>Missing events</h2>
      {provider.sequence && <Gaps endpoint={endpoint} providerName={provider.name} />}
      {provider.reconcilable && (
        <>
          <ReconcileForm endpoint={endpoint} providerName={provider.name} />
          <Runs endpointId={endpoint.id} />
        </>
      )}
    </section>
  )
}

type Gap = Answers['reconcile']['gaps']['items'][number]

function Gaps({ endpoint, providerName }: { endpoint: Endpoint; providerName: string }) {
  const { data, error } = useQuery(gapsQuery(endpoint.id))
  if (data === undefined) return <Problem error={error} />
  if (data.items.length === 0)
    return <p className="hint">{providerName} numbers its events. No number is missing between captures.</p>
  return (
    <>
      <p>
        {providerName} numbers its events. {plural(data.missingCount, 'event')} between captures are missing.
      </p>
      <ul className="cards" aria-label="Gaps">
        {data.items.map((gap) => (
          <GapLine key={gap.afterRequestId} gap={gap} endpointId={endpoint.id} />
        ))}
      </ul>
    </>
  )
}

function GapLine({ gap, endpointId }: { gap: Gap; endpointId: string }) {
  const { firstMissing, lastMissing, beforeRequestId, afterRequestId, to } = gap
  return (
    <li className="item">
      <span className="item-name mono">
        {firstMissing === lastMissing ? firstMissing : `${firstMissing} – ${lastMissing}`}
      </span>
      <span className="item-what">
        {count(gap.count)} missing, <Clock at={to} />
      </span>
      <Link className="link" href={`/e/${endpointId}?r=${beforeRequestId}`}>
        Before
      </Link>
      <Link className="link" href={`/e/${endpointId}?r=${afterRequestId}`}>
        After
      </Link>
    </li>
  )
}

/** The newest runs of an endpoint and their results. */
function Runs({ endpointId }: { endpointId: string }) {
  const { data, error } = useQuery(runsQuery(endpointId))
  if (data === undefined) return <Problem error={error} />
  if (data.items.length === 0) return null
  return (
    <ul className="cards" aria-label="Reconciliations">
      {data.items.map((run) => (
        <li key={run.id} className="item" aria-busy={isUnderWay(run)}>
          <span className="item-name">{nameOf(run)}</span>
          <output className="item-what" aria-live="polite">
            {resultOf(run)}
          </output>
          <time dateTime={run.createdAt} title={fullTime(run.createdAt)}>
            {ago(run.createdAt)}
          </time>
          {run.error !== null && <p className="field-problem">{run.error.detail}</p>}
          {run.missingTypes.length > 0 && (
            <p className="hint">
              {run.missingTypes.map(({ type, count: many }) => `${type} ${count(many)}`).join(', ')}
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}

const STATE_WORDS: Readonly<Record<Reconciliation['state'], string>> = {
  queued: 'Waiting',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
}

const nameOf = ({ state, dryRun }: Reconciliation): string =>
  dryRun ? `${STATE_WORDS[state]}, count only` : STATE_WORDS[state]

/** `10 000 listed, 100 missing: 100 captured, 0 still missing` */
function resultOf(run: Reconciliation): string {
  const { listed, missing, redelivered, captured, refused, tooOld, outstanding } = run.counts
  const brought = [
    ...(redelivered > 0 ? [`${count(redelivered)} sent again`] : []),
    ...(captured > 0 ? [`${count(captured)} captured`] : []),
    ...(refused > 0 ? [`${count(refused)} refused by the sender`] : []),
    ...(outstanding !== null && !run.dryRun && missing > 0 ? [`${count(outstanding)} still missing`] : []),
  ]
  const all = [
    `${count(listed)} listed`,
    ...(tooOld > 0 ? [`${count(tooOld)} too old to compare`] : []),
    `${count(missing)} missing`,
  ].join(', ')
  const cut =
    run.complete || isUnderWay(run) || run.error !== null ? '' : ` of the newest ${plural(listed, 'event')}`
  return brought.length === 0 ? `${all}${cut}` : `${all}${cut}: ${brought.join(', ')}`
}

const DAY_MS = 86_400_000
const PERIODS = [1, 3, 7, 30].map((days) => ({
  value: days,
  words: days === 1 ? 'Last day' : `Last ${days} days`,
}))

/** Starts a comparison with the sender's list: first to count, then to bring what is missing. */
function ReconcileForm({ endpoint, providerName }: { endpoint: Endpoint; providerName: string }) {
  // Never kept in the browser, and by the service for this run only.
  const [credential, setCredential] = useState('')
  const isGithub = endpoint.provider === 'github'
  const form = useForm({
    keptAs: `reconcile ${endpoint.id}`,
    begin: () => ({ hookUrl: '', days: 3, types: '', dryRun: true }),
    save: ({ days, dryRun, hookUrl, types }) =>
      creel.reconcile.start.mutate({
        endpointId: endpoint.id,
        credentials: isGithub ? { token: credential, hookUrl: hookUrl.trim() } : { apiKey: credential },
        since: new Date(Date.now() - days * DAY_MS).toISOString(),
        types: types.split(',').flatMap((type) => type.trim() || []),
        dryRun,
      }),
    stale: [['reconciliations', endpoint.id]],
  })
  const isOff = form.isSaving || credential === ''
  return (
    <form className="form" onSubmit={form.submit}>
      <p className="hint">
        {providerName} keeps a list of its events.{' '}
        {isGithub
          ? 'GitHub is asked to send the missing ones again.'
          : 'Missing events are captured from that list; actions run as for any capture.'}
      </p>
      <TextField
        label={isGithub ? 'Token with write access to the hook' : 'API key with read access to events'}
        kind="password"
        hint="For this run only: stored encrypted, and erased at its end."
        value={credential}
        problem={form.at(isGithub ? 'credentials/token' : 'credentials/apiKey')}
        onChange={setCredential}
      />
      {isGithub && (
        <TextField
          label="API URL of the hook"
          kind="code"
          hint="For example https://api.github.com/repos/octo/app/hooks/1"
          {...form.field('hookUrl', 'credentials/hookUrl')}
        />
      )}
      <SelectField label="Period" options={PERIODS} {...form.field('days', 'since')} />
      <TextField
        label="Event types"
        kind="code"
        hint={
          isGithub
            ? 'Optional. Separate several with commas.'
            : 'The types sent to this endpoint, separated by commas. Leave blank for all types of the account.'
        }
        {...form.field('types')}
      />
      <Problems of={form.beside()} />
      <div className="form-foot">
        <Button type="submit" disabled={isOff}>
          Count missing
        </Button>
        <Button look="primary" disabled={isOff} onClick={() => form.submit(undefined, { dryRun: false })}>
          Fetch missing
        </Button>
      </div>
    </form>
  )
}
