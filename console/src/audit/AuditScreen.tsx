import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Clock } from '../parts/Clock.tsx'
import { Page } from '../parts/Page.tsx'
import { QueryState } from '../parts/Problem.tsx'
import { endpointsQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { visible } from '../words/visible.ts'
import { differencesOf, type Entry, sentenceOf } from './auditSentence.ts'

const PAGE_SIZE = 50

/** The audit log, newest first: who changed an object, when and from where. An entry opens to show the change. */
export function AuditScreen() {
  const [page, setPage] = useState(1)
  const entries = useQuery({
    queryKey: ['audit', page],
    queryFn: () => creel.audit.list.query({ page, pageSize: PAGE_SIZE }),
    placeholderData: keepPreviousData,
  })
  const endpoints = useQuery(endpointsQuery)
  const totalPages = entries.data?.totalPages ?? 0
  return (
    <Page title="Audit log">
      <QueryState of={entries} />
      {entries.data !== undefined && (
        <section className="card" aria-label="Changes">
          <ol className="audit-entries">
            {entries.data.items.map((entry) => (
              <AuditEntry
                key={entry.id}
                entry={entry}
                endpointName={endpoints.data?.items.find(({ id }) => id === entry.endpointId)?.name}
              />
            ))}
          </ol>
          {totalPages > 1 && (
            <p>
              <Button look="small" disabled={page === 1} onClick={() => setPage(page - 1)}>
                Newer
              </Button>{' '}
              Page {page} of {totalPages}{' '}
              <Button look="small" disabled={page >= totalPages} onClick={() => setPage(page + 1)}>
                Older
              </Button>
            </p>
          )}
        </section>
      )}
    </Page>
  )
}

/** Members whose names are in the line of a closed entry. */
const NAMED_MAX = 4

interface Props {
  readonly entry: Entry
  /** Undefined if the endpoint was deleted, or the entry is of none. */
  readonly endpointName: string | undefined
}

/** A sentence that says who changed what; it opens to show the values before and after. */
function AuditEntry({ entry, endpointName }: Props) {
  const { actor, at, endpointId } = entry
  const sentence = sentenceOf(entry, endpointName)
  const differences = differencesOf(entry)
  return (
    <li className="audit-entry">
      <p>
        <b>{visible(sentence.actor)}</b> {sentence.verb} <b>{visible(sentence.subject)}</b>
        {endpointName !== undefined && endpointName !== sentence.subject && (
          <>
            {' '}
            of{' '}
            <Link className="link" href={`/e/${endpointId}`}>
              {endpointName}
            </Link>
          </>
        )}
      </p>
      <p className="hint">
        <Clock at={at} />
        {actor.address !== null && <span>from {actor.address}</span>}
        <code>{entry.action}</code>
      </p>
      {differences.length > 0 && (
        <details>
          <summary>{summaryOf(entry, differences)}</summary>
          <dl className="audit-diff">
            {differences.map(({ path, before, after }) => (
              <div key={path}>
                <dt>{path}</dt>
                {before !== null && <dd data-change="removed">{visible(before)}</dd>}
                {after !== null && <dd data-change="added">{visible(after)}</dd>}
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  )
}

function summaryOf({ before, after }: Entry, differences: readonly { readonly path: string }[]): string {
  const isCounted = after !== null && 'requestIds' in after
  if (before === null || after === null || isCounted) return 'Details'
  const names = differences.slice(0, NAMED_MAX).map(({ path }) => path)
  const rest = differences.length - names.length
  return `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
