import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Bones } from '../parts/Bones.tsx'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Page } from '../shell/Page.tsx'
import { endpointsQuery } from '../shell/queries.ts'
import { creel } from '../trpc.ts'
import { AuditEntry } from './AuditEntry.tsx'

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
      <Problem error={entries.error} onRetry={() => void entries.refetch()} />
      {entries.isLoading && <Bones />}
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
