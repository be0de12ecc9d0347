import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useSettled } from '../parts/useSettled.ts'
import { creel } from '../trpc.ts'
import { count } from '../words/format.ts'

const LAST = 500
const LINKS = 5

interface Props {
  readonly endpointId: string
  /** Undefined while it cannot be parsed. */
  readonly condition: unknown
}

/** Evaluates a condition against the newest captures. Shows nothing while the condition is incomplete. */
export function ConditionTest({ endpointId, condition }: Props) {
  const settled = useSettled(JSON.stringify(condition))
  const tried = useQuery({
    queryKey: ['condition', endpointId, settled],
    queryFn: () => {
      const document: Record<string, unknown> = JSON.parse(settled ?? '{}')
      return creel.conditions.try.mutate({ endpointId, condition: document, last: LAST })
    },
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const { data } = tried
  if (data === undefined || tried.error !== null) return null
  if (data.testedCount === 0) return <p className="hint">No captures yet to test the condition on.</p>
  const { matched, notMatched, testedCount } = data
  return (
    <div className="condition-test" role="status" data-stale={tried.isPlaceholderData}>
      <p>
        Of the last <b className="num">{count(testedCount)}</b>:{' '}
        <b className="ok num">{count(matched.count)}</b> match,{' '}
        <b className="num">{count(notMatched.count)}</b> do not match.
      </p>
      <div className="condition-bar" aria-hidden="true">
        <i style={{ inlineSize: `${(matched.count / testedCount) * 100}%` }} />
      </div>
      <p className="hint">
        <Ids words="matching" endpointId={endpointId} ids={matched.firstIds} />
        {matched.count > 0 && notMatched.count > 0 && ' · '}
        <Ids words="not matching" endpointId={endpointId} ids={notMatched.firstIds} />
      </p>
    </div>
  )
}

function Ids({ words, endpointId, ids }: { words: string; endpointId: string; ids: readonly number[] }) {
  if (ids.length === 0) return null
  return (
    <>
      {words}:{' '}
      {ids.slice(0, LINKS).map((id, at) => (
        <span key={id}>
          {at > 0 && ', '}
          <a className="link" href={`/console/e/${endpointId}?r=${id}`} target="_blank" rel="noreferrer">
            #{id}
          </a>
        </span>
      ))}
      {ids.length > LINKS && ' …'}
    </>
  )
}
