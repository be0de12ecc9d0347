import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { CaptureStream } from '../live/captureStream.ts'
import { Button } from '../parts/Button.tsx'
import { Fact } from '../parts/Page.tsx'
import { Method, VERDICT_WORDS, VerdictMark } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { type Answers, creel, type Endpoint, type RequestDetail, type RequestSummary } from '../trpc.ts'
import { ago, bytes, fullTime, ordinal } from '../words/format.ts'
import { problemOf } from '../words/problem.ts'
import { visible } from '../words/visible.ts'

/** The name of a request, which is the title of the page, too. */
export function Title({
  endpointName,
  shown,
  request,
}: {
  endpointName: string
  shown: RequestSummary | RequestDetail | undefined
  request: RequestDetail | undefined
}) {
  const path = visible(shown?.path || '/')
  const title =
    shown === undefined ? undefined : shown.label === null ? `${shown.method} ${path}` : visible(shown.label)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another name of the endpoint titles the page anew
  useEffect(() => {
    if (title === undefined) return
    const before = document.title
    const own = `${title} · ${before}`
    document.title = own
    return () => {
      // Another page may have its title by now.
      if (document.title === own) document.title = before
    }
  }, [title, endpointName])
  return (
    <div>
      <h2>{title ?? '\u00a0'}</h2>
      {shown !== undefined && (
        <p title={request?.url}>
          <Method method={shown.method} /> {path}
          {request?.queryString != null && <span className="query">?{request.queryString}</span>}
        </p>
      )}
    </div>
  )
}

export function Facts({ shown }: { shown: RequestSummary | RequestDetail }) {
  return (
    <dl className="facts">
      <Fact name="Request">#{shown.id}</Fact>
      <Fact name="Received" title={fullTime(shown.receivedAt)}>
        {ago(shown.receivedAt)}
      </Fact>
      <Fact name="From">
        {shown.reconciled ? "the sender's event list (reconciliation)" : (shown.ip ?? '–')}
      </Fact>
      <Fact name="Size">{bytes(shown.sizeBytes)}</Fact>
      <Fact name="Type">{shown.contentType?.split(';')[0] ?? '–'}</Fact>
      {shown.eventId !== null && (
        <Fact name="Event" title={visible(shown.eventId)}>
          {visible(shown.eventId)}
        </Fact>
      )}
      {shown.answeredBy !== null && (
        <Fact name="Answered by" title={shown.answeredBy.note ?? undefined}>
          {answererOf(shown.answeredBy)}
        </Fact>
      )}
      {shown.sealed && (
        <Fact name="Encrypted">
          {shown.shredded ? 'its key is destroyed, and its content gone' : 'at rest'}
        </Fact>
      )}
      {shown.redacted && (
        <Fact name="Taken out" title={shown.redactedPaths.join(', ')}>
          {shown.redactionFault ?? shown.redactedPaths.join(', ')}
        </Fact>
      )}
      {'originalUntil' in shown && shown.originalUntil !== null && (
        <Fact name="Original" title={fullTime(shown.originalUntil)}>
          kept until {fullTime(shown.originalUntil)} at the latest: replays send it until then
        </Fact>
      )}
      {shown.duplicateOf !== null && (
        <Fact name="Duplicate">
          of{' '}
          <Link className="link" href={`/e/${shown.endpointId}?r=${shown.duplicateOf}`}>
            #{shown.duplicateOf}
          </Link>
          {shown.state === 'Skipped' && ': no action ran'}
        </Fact>
      )}
      {shown.senderAttempt !== null && shown.firstRequestId !== null && (
        <Fact name="Attempt">
          {ordinal(shown.senderAttempt)} of the sender, first{' '}
          <Link className="link" href={`/e/${shown.endpointId}?r=${shown.firstRequestId}`}>
            #{shown.firstRequestId}
          </Link>{' '}
          <Link className="link" href={`/e/${shown.endpointId}?r=${shown.id}&c=${shown.firstRequestId}`}>
            Compare
          </Link>
        </Fact>
      )}
    </dl>
  )
}

/** Buttons to the newer and the older request of the list. */
export function Steps({
  stream,
  requestId,
  onOpen,
}: {
  stream: CaptureStream
  requestId: number
  onOpen: (id: number) => void
}) {
  const step = (by: number) => {
    const { rows } = stream.get()
    const at = rows.findIndex(({ id }) => id === requestId)
    const next = at < 0 ? undefined : rows[at + by]
    if (next !== undefined) onOpen(next.id)
  }
  return (
    <>
      <Button look="quiet icon" onClick={() => step(-1)} aria-label="Newer request" title="Newer (k)">
        <ArrowUp size={15} />
      </Button>
      <Button look="quiet icon" onClick={() => step(1)} aria-label="Older request" title="Older (j)">
        <ArrowDown size={15} />
      </Button>
    </>
  )
}

function answererOf({ kind, index, note }: NonNullable<RequestDetail['answeredBy']>): string {
  const why = note === null ? '' : ` (${note})`
  if (kind === 'response') return `the ${ordinal((index ?? 0) + 1)} response${why}`
  return `${{ action: 'the receiver', fallback: 'the fallback', endpoint: 'the endpoint' }[kind]}${why}`
}

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

/** The callback of a handshake, with a button that calls it; nothing for any other request. */
export function HandshakeLine({ endpointId, request }: { endpointId: string; request: RequestDetail }) {
  const confirm = useCall(() => creel.requests.confirm.mutate({ endpointId, requestId: request.id }))
  const callback = request.rawHeaders.find(({ name }) => name.toLowerCase() === 'webhook-request-callback')
  if (request.method !== 'OPTIONS' || callback === undefined) return null
  return (
    <p className="pad acts">
      <span className="hint">
        The sender takes a confirmation at <code>{visible(callback.value)}</code>
      </span>
      <Writes>
        <Button {...confirm.button()} title="Calls this URL once, with GET">
          {confirm.isPending ? 'Calling…' : 'Confirm the handshake'}
        </Button>
      </Writes>
      <output className="outcome" aria-live="polite">
        {confirm.error !== null && <span className="bad">{problemOf(confirm.error).detail}</span>}
        {confirm.data !== undefined && outcomeWords(confirm.data)}
      </output>
    </p>
  )
}

function outcomeWords({ statusCode, outcome, detail, body }: Answers['requests']['confirm']): string {
  if (statusCode === null) return `No answer: ${outcome}${detail === null ? '' : `, ${visible(detail)}`}`
  return `It answered ${statusCode}${body === null ? '' : `: ${visible(body.slice(0, 200))}`}`
}
