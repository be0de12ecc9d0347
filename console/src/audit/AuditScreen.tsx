import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Bones } from '../parts/Bones.tsx'
import { Problem } from '../parts/Problem.tsx'
import { PageHead } from '../shell/PageHead.tsx'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

const PAGE_SIZE = 50

/** The audit log, newest first: who changed an object, when and from where. An entry opens to show the change. */
export function AuditScreen() {
  const [page, setPage] = useState(1)
  const entries = useQuery({
    queryKey: ['audit', page],
    queryFn: () => creel.audit.list.query({ page, pageSize: PAGE_SIZE }),
    placeholderData: keepPreviousData,
  })
  const totalPages = entries.data?.totalPages ?? 0
  return (
    <main id="main" className="page">
      <PageHead title="Audit" />
      <div className="page-body">
        <Problem error={entries.error} onRetry={() => void entries.refetch()} />
        {entries.isLoading && <Bones />}
        {entries.data !== undefined && (
          <section className="card" aria-label="Changes">
            <div className="table-frame">
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">Time</th>
                    <th scope="col">Actor</th>
                    <th scope="col">Address</th>
                    <th scope="col">Action</th>
                    <th scope="col">Changed</th>
                  </tr>
                </thead>
                <tbody>
                  {entries.data.items.map(({ action, actor, after, at, before, id, subject }) => (
                    <tr key={id}>
                      <td title={fullTime(at)}>{ago(at)}</td>
                      <td>
                        {actor.kind} {actor.name}
                      </td>
                      <td>{actor.address ?? ''}</td>
                      <td>
                        <code>{action}</code> {subject.name ?? subject.id}
                      </td>
                      <td>
                        <details>
                          <summary>{Object.keys(after ?? before ?? {}).join(', ') || 'no details'}</summary>
                          <pre>{JSON.stringify({ before, after }, null, 2)}</pre>
                        </details>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {totalPages > 1 && (
              <p>
                <button
                  type="button"
                  className="button small"
                  disabled={page === 1}
                  onClick={() => setPage(page - 1)}
                >
                  Newer
                </button>{' '}
                Page {page} of {totalPages}{' '}
                <button
                  type="button"
                  className="button small"
                  disabled={page >= totalPages}
                  onClick={() => setPage(page + 1)}
                >
                  Older
                </button>
              </p>
            )}
          </section>
        )}
      </div>
    </main>
  )
}
