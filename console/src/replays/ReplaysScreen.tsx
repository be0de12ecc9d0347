import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Table } from '../parts/Table.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { ago, count, fullTime, plural } from '../words/format.ts'
import { differencesQuery, isUnderWay, type ReplayResult, type ReplayRun, replaysQuery } from './queries.ts'
import { ReplayForm } from './ReplayForm.tsx'

const STATE_WORDS: Readonly<Record<ReplayRun['state'], string>> = {
  queued: 'Waiting',
  running: 'Running',
  paused: 'Paused',
  done: 'Done',
  cancelled: 'Cancelled',
  failed: 'Failed',
}

/** One replay: its progress, its commands while it runs, and what differs. */
function ReplayItem({ endpointId, run }: { endpointId: string; run: ReplayRun }) {
  const [isOpen, setOpen] = useState(false)
  const { counts, state } = run
  const over = counts.done + counts.errored
  const differing = counts.changed + counts.failed + counts.errored
  return (
    <li className="item" aria-busy={isUnderWay(run)}>
      <span className="item-name">{STATE_WORDS[state]}</span>
      <output className="item-what" aria-live="polite">
        {`${count(over)} of ${count(counts.sends)} sent${wordsOf(run)}`}
      </output>
      <time dateTime={run.createdAt} title={fullTime(run.createdAt)}>
        {ago(run.createdAt)}
      </time>
      {isUnderWay(run) && <progress aria-label="Progress" max={counts.sends} value={over} />}
      {run.reason !== null && <p className="field-problem">{run.reason}</p>}
      <div className="form-foot">
        {isUnderWay(run) && (
          <Writes>
            <Commands endpointId={endpointId} run={run} />
          </Writes>
        )}
        {differing > 0 && (
          <Button look="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide differences' : `Show ${plural(differing, 'difference')}`}
          </Button>
        )}
      </div>
      {isOpen && <Differences endpointId={endpointId} run={run} />}
    </li>
  )
}

/** `, seed 42: 10 equal, 1 changed` */
function wordsOf({ counts, compare, seed }: ReplayRun): string {
  const { equal, changed, failed, slower, errored, uncompared } = counts
  const named = [
    ...(compare === null ? [] : [`${count(equal)} equal`]),
    ...(changed > 0 ? [`${count(changed)} changed`] : []),
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    ...(slower > 0 ? [`${count(slower)} slower`] : []),
    ...(uncompared > 0 ? [`${count(uncompared)} without a baseline`] : []),
    ...(errored > 0 ? [`${count(errored)} not sent`] : []),
  ]
  return `, seed ${seed}${named.length === 0 ? '' : `: ${named.join(', ')}`}`
}

function Commands({ endpointId, run }: { endpointId: string; run: ReplayRun }) {
  const change = useCall(
    (verb: 'pause' | 'resume' | 'cancel') => creel.replays[verb].mutate({ endpointId, replayId: run.id }),
    [['replays', endpointId]],
  )
  return (
    <>
      <Button look="small" {...change.button(run.state === 'paused' ? 'resume' : 'pause')}>
        {run.state === 'paused' ? 'Resume' : 'Pause'}
      </Button>
      <Button look="small quiet" {...change.button('cancel')}>
        Cancel
      </Button>
      <Problem error={change.error} />
    </>
  )
}

const GROUPS = [
  { name: 'failed', words: 'Failed' },
  { name: 'changed', words: 'Changed' },
  { name: 'errored', words: 'Not sent' },
] as const

function Differences({ endpointId, run }: { endpointId: string; run: ReplayRun }) {
  const { data, error, refetch } = useQuery(differencesQuery(endpointId, run))
  if (data === undefined) return <Problem error={error} onRetry={() => void refetch()} />
  return GROUPS.map(({ name, words }) =>
    data[name].length === 0 ? null : (
      <section key={name} aria-label={words}>
        <h3>{words}</h3>
        {[...Map.groupBy(data[name], differenceOf)].map(([difference, results]) => (
          <section key={difference}>
            <h4>
              {difference} · {plural(results.length, 'request')}
            </h4>
            <ul>
              {results.map((result) => (
                <ResultItem key={result.position} endpointId={endpointId} run={run} result={result} />
              ))}
            </ul>
          </section>
        ))}
      </section>
    ),
  )
}

/** Equal for sends that differ alike: the members that differ, or the error. */
const differenceOf = ({ error, differences }: ReplayResult): string =>
  error ??
  (differences.length === 0 ? 'What differs was not kept' : differences.map(({ path }) => path).join(', '))

/** One send that differs: member by member, before and after, with a button that sends it again. */
function ResultItem({
  endpointId,
  run,
  result,
}: {
  endpointId: string
  run: ReplayRun
  result: ReplayResult
}) {
  const again = useCall(
    () =>
      creel.replays.start.mutate({
        endpointId,
        select: { requestIds: [result.requestId] },
        to: Object(run.to),
        sign: run.sign,
        faults: faultOf(result),
        seed: run.seed,
        ...(isComparable(run, result) ? { compare: Object(run.compare) } : {}),
      }),
    [['replays', endpointId]],
  )
  return (
    <li className="item">
      <span className="item-name">
        <Link href={`/e/${endpointId}?r=${result.requestId}`}>Request {result.requestId}</Link>
        {result.fault !== null && ` · ${result.fault}${result.copy === 1 ? ', sent again' : ''}`}
      </span>
      {result.error !== null && <p className="field-problem">{result.error}</p>}
      {result.differences.length > 0 && (
        <Table look="changes" heads={['Member', 'Before', 'After']}>
          {result.differences.map(({ path, before, after, missing }) => (
            <tr key={path}>
              <td>{path}</td>
              <td>{missing === 'before' ? <span className="hint">absent</span> : JSON.stringify(before)}</td>
              <td>{missing === 'after' ? <span className="hint">absent</span> : JSON.stringify(after)}</td>
            </tr>
          ))}
        </Table>
      )}
      {/* Only a program that takes requests can send those of listeners. */}
      {!('listeners' in Object(run.to)) && (
        <Writes>
          <Button look="small" {...again.button()}>
            Send this one again
          </Button>
        </Writes>
      )}
      <Problem error={again.error} />
    </li>
  )
}

/** Whether the answer has a baseline when the request is sent alone: the first answer exists to duplicates only. */
const isComparable = ({ compare }: ReplayRun, { fault }: ReplayResult): boolean =>
  compare !== null && (Object(compare).with !== 'first' || fault === 'duplicate')

/** The fault of one send as the only one; a reordered request has no neighbours here. */
function faultOf({ fault }: ReplayResult) {
  if (fault === 'duplicate') return { duplicate: 1 }
  return fault === 'bad-signature' ? { badSignature: 1 } : {}
}

/** Replays of many requests of an endpoint: a form to start one, and the newest with their results. */
export function ReplaysScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  const { data, error } = useQuery(replaysQuery(endpoint.id))
  return (
    <>
      <section className="card" aria-labelledby="rehearse-title">
        <h2 id="rehearse-title">Rehearse</h2>
        <p className="hint">
          Sends captures again to another release, with the faults that really happen, and compares the
          answers.
        </p>
        <Writes>
          <ReplayForm endpoint={endpoint} />
        </Writes>
      </section>
      <Problem error={error} />
      {data !== undefined && data.items.length > 0 && (
        <ul className="cards" aria-label="Replays">
          {data.items.map((run) => (
            <ReplayItem key={run.id} endpointId={endpoint.id} run={run} />
          ))}
        </ul>
      )}
    </>
  )
}
