import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { CaptureAddress, ChangeAddress } from '../address.ts'
import { asRead, isLong } from '../body/asRead.ts'
import { BodyView } from '../body/BodyView.tsx'
import { LargeBody } from '../body/LargeBody.tsx'
import { RequestDeliveries } from '../deliveries/RequestDeliveries.tsx'
import type { CaptureStream } from '../live/captureStream.ts'
import { lazyPart } from '../parts/Boundary.tsx'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { StateMark } from '../parts/StateMark.tsx'
import { useShortcuts } from '../parts/shortcuts.ts'
import { Tabs } from '../parts/Tabs.tsx'
import { requestQuery } from '../queries.ts'
import { type Endpoint, type RequestDetail, type RequestSummary, statusOf } from '../trpc.ts'
import { visible } from '../words/visible.ts'
import { PathBar } from './PathBar.tsx'
import { Facts, HandshakeLine, Steps, Title, VerdictLine } from './RequestHead.tsx'
import { RequestNote } from './RequestNote.tsx'
import { RequestTools } from './RequestTools.tsx'

const EditAndSend = lazyPart(async () => (await import('./EditAndSend.tsx')).EditAndSend)
const Compare = lazyPart(async () => (await import('./Compare.tsx')).Compare)

interface Props {
  readonly endpoint: Endpoint
  readonly requestId: number
  /** The row of the list, which changes with the stream. */
  readonly row: RequestSummary | undefined
  readonly stream: CaptureStream
  readonly address: CaptureAddress
  readonly onChange: ChangeAddress
  readonly onClose: () => void
  readonly onRemove: () => void
}

/** A captured request: its summary, its verdict, and its parts in tabs. */
export function RequestPane({
  endpoint,
  requestId,
  row,
  stream,
  address,
  onChange,
  onClose,
  onRemove,
}: Props) {
  const detail = useQuery(requestQuery(endpoint.id, requestId, row))
  const [notedId, setNotedId] = useState<number | null>(null)
  const request = detail.data
  const shown = request ?? row
  const isMissing = statusOf(detail.error) === 404
  // Deleted elsewhere, or by its retention.
  useEffect(() => {
    if (isMissing) stream.remove(new Set([requestId]), true)
  }, [isMissing, requestId, stream])
  const compare = () => {
    const before = previousOf(stream, requestId, shown)
    if (before !== undefined) onChange({ c: before }, true)
  }
  const edit = () => onChange({ edit: '1' }, true)
  useShortcuts({
    edit,
    tab1: () => onChange({ tab: undefined }, true),
    tab2: () => onChange({ tab: 'headers' }, true),
    tab3: () => onChange({ tab: 'query' }, true),
    tab4: () => onChange({ tab: 'deliveries' }, true),
    compare,
  })
  return (
    <aside className="detail" aria-label="Request" aria-busy={detail.isLoading}>
      <header>
        <div className="title">
          <Title endpointName={endpoint.name} shown={shown} request={request} />
          <Steps stream={stream} requestId={requestId} onOpen={(r) => onChange({ r, c: undefined }, true)} />
          <Button look="quiet icon" onClick={onClose} aria-label="Close" title="Close (Esc)">
            <X size={16} />
          </Button>
        </div>
        {shown !== undefined && <Facts shown={shown} />}
        {request !== undefined && (
          <RequestNote
            key={requestId}
            endpointId={endpoint.id}
            request={request}
            isEdited={notedId === requestId}
            onEdit={(isEdited) => setNotedId(isEdited ? requestId : null)}
            onNoted={(noted) => stream.mark([noted])}
          />
        )}
        {request !== undefined && (
          <RequestTools
            endpoint={endpoint}
            request={request}
            onDeliveries={() => onChange({ tab: 'deliveries' }, true)}
            onFind={(q) => onChange({ q })}
            onCompare={compare}
            onEdit={edit}
            onNote={() => setNotedId(requestId)}
            onRemove={onRemove}
          />
        )}
      </header>
      {detail.error !== null && (
        <div className="pad">
          <Problem error={detail.error} onRetry={isMissing ? undefined : () => void detail.refetch()} />
          {isMissing && (
            <Link className="link" href="/bin">
              Look in the recycle bin
            </Link>
          )}
        </div>
      )}
      {shown?.verification != null && (
        <VerdictLine endpoint={endpoint} requestId={requestId} verification={shown.verification} />
      )}
      {request !== undefined && <HandshakeLine endpointId={endpoint.id} request={request} />}
      {!isMissing && (
        <>
          <Tabs
            label="Parts of the request"
            current={address.tab}
            onTab={(tab) => onChange({ tab: tab === 'body' ? undefined : tab }, true)}
            tabs={[
              { name: 'body', words: 'Body' },
              { name: 'headers', words: 'Headers', badge: request?.rawHeaders.length },
              {
                name: 'query',
                words: 'Query',
                badge: request === undefined ? undefined : Object.keys(request.query).length,
              },
              { name: 'deliveries', words: 'Deliveries', badge: row?.attemptCount ?? request?.attemptCount },
            ]}
          >
            {shown !== undefined && (
              <StateMark state={(row ?? shown).state} counts={(row ?? shown).deliveryCounts} />
            )}
          </Tabs>
          <div
            className="panel"
            role="tabpanel"
            id={`panel-${address.tab}`}
            aria-labelledby={`tab-${address.tab}`}
          >
            {request === undefined ? (
              detail.error === null && <Bones />
            ) : address.tab === 'body' && (request.bodyOmitted || isLong(request)) ? (
              <LargeBody endpointId={endpoint.id} request={request} />
            ) : address.tab === 'body' ? (
              <BodyView
                hasKey
                {...asRead(request)}
                bodyKind={request.bodyKind}
                isTruncated={request.bodyTruncated}
                contentType={request.contentType}
                sizeBytes={request.sizeBytes}
                name={`request-${request.id}`}
                pathBar={(line) => (
                  <PathBar endpoint={endpoint} line={line} onFind={(q) => onChange({ q })} />
                )}
              />
            ) : address.tab === 'headers' ? (
              <Fields fields={request.rawHeaders} empty="No headers." />
            ) : address.tab === 'query' ? (
              <Fields fields={queryFields(request)} empty="No query string." />
            ) : (
              <RequestDeliveries endpointId={endpoint.id} request={request} row={row} />
            )}
          </div>
        </>
      )}
      {request !== undefined && address.c !== undefined && (
        <Compare
          endpointId={endpoint.id}
          request={request}
          otherId={address.c}
          onOther={(c) => onChange({ c }, true)}
        />
      )}
      {request !== undefined && address.isEdited && (
        <EditAndSend
          endpoint={endpoint}
          request={request}
          onClose={() => onChange({ edit: undefined }, true)}
        />
      )}
    </aside>
  )
}

function queryFields({ query }: RequestDetail): { name: string; value: string }[] {
  return Object.entries(query).flatMap(([name, values]) => values.map((value) => ({ name, value })))
}

/**
 * The request to compare with: the previous time of the same event if it is loaded, else its first time. Without an
 * event, the next older request of the same type, or of any.
 */
function previousOf(
  stream: CaptureStream,
  requestId: number,
  shown: RequestSummary | undefined,
): number | undefined {
  const older = stream.get().rows.filter(({ id }) => id < requestId)
  const { eventId = null, firstRequestId = null, label = null } = shown ?? {}
  if (firstRequestId !== null) return older.find((row) => row.eventId === eventId)?.id ?? firstRequestId
  return (older.find((row) => row.label === label) ?? older[0])?.id
}

interface FieldsProps {
  readonly fields: readonly { readonly name: string; readonly value: string }[]
  readonly empty: string
}

/** Names and values in their order, with repeats. */
function Fields({ fields, empty }: FieldsProps) {
  if (fields.length === 0) return <p className="hint pad">{empty}</p>
  return (
    <table className="fields">
      <thead className="sr-only">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, value }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: fields may repeat, and never move
          <tr key={at}>
            <th scope="row">{visible(name)}</th>
            <td>
              {visible(value)}
              <CopyButton label={`Copy ${name}`} text={() => value} className="button quiet icon small" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
