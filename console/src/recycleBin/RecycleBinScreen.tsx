import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Bones } from '../parts/Bones.tsx'
import { Button } from '../parts/Button.tsx'
import { Method } from '../parts/Method.tsx'
import { More } from '../parts/More.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Writes } from '../parts/Writes.tsx'
import { PageHead } from '../shell/PageHead.tsx'
import { creel } from '../trpc.ts'
import { ago, bytes, fullTime, plural } from '../words/format.ts'

const PAGE = 100
const RESTORE_MAX = 500

/** Deleted requests and endpoints that can still be restored. */
export function RecycleBinScreen() {
  const queries = useQueryClient()
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  const bin = useInfiniteQuery({
    queryKey: ['bin'],
    queryFn: ({ pageParam }) => creel.recycleBin.list.query({ page: pageParam, pageSize: PAGE }),
    initialPageParam: 1,
    getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
  })
  const restore = useMutation({
    mutationFn: (ids: readonly number[]) =>
      creel.recycleBin.restore.mutate({ requestIds: ids.slice(0, RESTORE_MAX) }),
    onSuccess: async () => {
      setPicked(new Set())
      await queries.invalidateQueries({ queryKey: ['bin'] })
      await queries.invalidateQueries({ queryKey: ['endpoints'] })
    },
  })
  const items = bin.data?.pages.flatMap((page) => page.items) ?? []
  const total = bin.data?.pages[0]?.totalCount ?? 0
  const pick = (id: number, isPicked: boolean) =>
    setPicked((before) => {
      const after = new Set(before)
      if (isPicked) after.add(id)
      else after.delete(id)
      return after
    })
  return (
    <main id="main" className="page">
      <PageHead title="Recycle bin">
        <span className="hint">{plural(total, 'request')}</span>
      </PageHead>
      <div className="page-body">
        <Problem error={bin.error ?? restore.error} onRetry={() => void bin.refetch()} />
        {restore.data !== undefined && (
          <p className="banner" data-tone={restore.data.skippedAtCap === 0 ? 'ok' : 'warn'} role="status">
            {plural(restore.data.restoredCount, 'request')} restored
            {restore.data.skippedAtCap > 0 &&
              `, ${restore.data.skippedAtCap} not restored: the endpoint is full`}
          </p>
        )}
        {bin.isLoading && <Bones />}
        {bin.data !== undefined && items.length === 0 && (
          <div className="nothing">
            <h2>The recycle bin is empty</h2>
            <p>
              Deleted requests stay here until their retention ends. You can restore them with their delivery
              attempts.
            </p>
          </div>
        )}
        {items.length > 0 && (
          <>
            <Writes>
              <div className="acts">
                <Button
                  look="primary"
                  disabled={picked.size === 0 || restore.isPending}
                  onClick={() => restore.mutate([...picked])}
                >
                  {restore.isPending
                    ? 'Restoring…'
                    : `Restore ${picked.size === 0 ? '' : plural(picked.size, 'request')}`}
                </Button>
                <Button onClick={() => setPicked(new Set(items.map(({ id }) => id)))}>
                  Select all shown
                </Button>
                {picked.size > 0 && (
                  <Button look="quiet" onClick={() => setPicked(new Set())}>
                    Clear
                  </Button>
                )}
              </div>
            </Writes>
            <div className="table-frame">
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">
                      <span className="sr-only">Select</span>
                    </th>
                    <th scope="col">Request</th>
                    <th scope="col">Endpoint</th>
                    <th scope="col">Size</th>
                    <th scope="col">Deleted</th>
                    <th scope="col">Deleted permanently</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map(({ deletedAt, endpointName, id, label, method, path, purgesAt, sizeBytes }) => (
                    <tr key={id}>
                      <td>
                        <label className="check">
                          <input
                            type="checkbox"
                            checked={picked.has(id)}
                            onChange={({ target }) => pick(id, target.checked)}
                          />
                          <span className="sr-only">Select #{id}</span>
                        </label>
                      </td>
                      <th scope="row">
                        #{id} <Method method={method} /> {label ?? (path || '/')}
                      </th>
                      <td>{endpointName}</td>
                      <td>{bytes(sizeBytes)}</td>
                      <td title={fullTime(deletedAt)}>{ago(deletedAt)}</td>
                      <td title={fullTime(purgesAt)}>{ago(purgesAt)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <More of={bin}>More</More>
          </>
        )}
      </div>
    </main>
  )
}
