import { useQuery } from '@tanstack/react-query'
import { BodyView } from '../body/BodyView.tsx'
import { Bones } from '../parts/Bones.tsx'
import { Problem } from '../parts/Problem.tsx'
import { type Attempt, creel } from '../trpc.ts'
import { attemptErrorWords } from '../words/attemptError.ts'
import { plural } from '../words/format.ts'

/** The exact request and response of an attempt, while they are stored. */
export function AttemptRecord({ endpointId, attempt }: { endpointId: string; attempt: Attempt }) {
  const detail = useQuery({
    queryKey: ['attempt', endpointId, attempt.id, attempt.state],
    queryFn: () => creel.deliveries.get.query({ endpointId, attemptId: attempt.id }),
  })
  if (detail.data === undefined) {
    return (
      <div className="record">
        {detail.error === null ? (
          <Bones />
        ) : (
          <Problem error={detail.error} onRetry={() => void detail.refetch()} />
        )}
      </div>
    )
  }
  const { error, received, sent, transformNote } = detail.data
  return (
    <div className="record">
      {(error !== null || transformNote !== null) && (
        <p className="record-note">
          {error !== null && <span className="bad">{attemptErrorWords(error)}</span>} {transformNote}
        </p>
      )}
      <Side
        title="Sent"
        first={sent === null ? 'The record is no longer stored.' : `${sent.method} ${sent.url}`}
        part={sent}
      />
      <Side
        title="Received"
        first={
          received === null
            ? attempt.state === 'Pending'
              ? 'Sending…'
              : 'No answer.'
            : `HTTP ${received.statusCode}`
        }
        part={received}
      />
    </div>
  )
}

interface SideProps {
  readonly title: 'Sent' | 'Received'
  readonly first: string
  readonly part: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | null
    readonly bodyIsBinary: boolean
    readonly bodyTruncated: boolean
    readonly contentType?: string | null
  } | null
}

function Side({ title, first, part }: SideProps) {
  return (
    <section aria-label={title}>
      <h4>{title}</h4>
      <p className="first-line">
        <code>{first}</code>
      </p>
      {part !== null && (
        <>
          <details>
            <summary>{plural(Object.keys(part.headers).length, 'header')}</summary>
            <dl>
              {Object.entries(part.headers).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
          <BodyView
            body={part.body}
            isBinary={part.bodyIsBinary}
            isTruncated={part.bodyTruncated}
            contentType={part.contentType ?? contentTypeOf(part.headers)}
            sizeBytes={sizeOf(part)}
            name={title.toLowerCase()}
          />
        </>
      )}
    </section>
  )
}

function contentTypeOf(headers: Readonly<Record<string, string>>): string | null {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? null
}

function sizeOf({ body, bodyIsBinary }: { body: string | null; bodyIsBinary: boolean }): number {
  if (body === null) return 0
  return bodyIsBinary ? atob(body).length : new TextEncoder().encode(body).length
}
