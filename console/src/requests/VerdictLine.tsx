import { Link } from 'wouter'
import { VERDICT_WORDS, VerdictMark } from '../parts/VerdictMark.tsx'
import type { Endpoint, RequestSummary } from '../trpc.ts'

interface Props {
  readonly endpoint: Endpoint
  readonly requestId: number
  readonly verification: NonNullable<RequestSummary['verification']>
}

/** The verdict about the signature, and its reason. */
export function VerdictLine({ endpoint, requestId, verification }: Props) {
  const { note, verdict } = verification
  return (
    <p className="verdict-line" data-verdict={verdict}>
      <VerdictMark verification={verification} size={15} />
      <span>
        <b>{VERDICT_WORDS[verdict]}.</b> {note}
      </span>
      {(verdict === 'failed' || verdict === 'unverifiable') && (
        <Link className="link" href={`/e/${endpoint.id}/settings?on=${requestId}#provider`}>
          Test another secret…
        </Link>
      )}
    </p>
  )
}
