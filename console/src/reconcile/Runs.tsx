import { useQuery } from '@tanstack/react-query'
import { Problem } from '../parts/Problem.tsx'
import { ago, count, fullTime, plural } from '../words/format.ts'
import { isUnderWay, type Reconciliation, runsQuery } from './queries.ts'

/** The newest runs of an endpoint and their results. */
export function Runs({ endpointId }: { endpointId: string }) {
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
