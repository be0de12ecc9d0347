import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CheckField } from '../parts/Field.tsx'
import { Page } from '../parts/Page.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { Method } from '../parts/StateMark.tsx'
import { More, Table, usePages } from '../parts/Table.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { creel } from '../trpc.ts'
import { ago, bytes, fullTime, plural } from '../words/format.ts'
import { visible } from '../words/visible.ts'

const PAGE = 100
/** The most requests of one call. */
const RESTORE_MAX = 500

/** Deleted requests and endpoints that can still be restored. */
export function RecycleBinScreen() {
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  const { items, pages, totalCount } = usePages(['bin'], PAGE, (page) => creel.recycleBin.list.query(page))
  const restore = useCall(
    async (ids: readonly number[]) => {
      let [restoredCount, skippedAtCap] = [0, 0]
      for (let at = 0; at < ids.length; at += RESTORE_MAX) {
        const requestIds = ids.slice(at, at + RESTORE_MAX)
        const restored = await creel.recycleBin.restore.mutate({ requestIds })
        restoredCount += restored.restoredCount
        skippedAtCap += restored.skippedAtCap
        // If a later call is refused, the rest stays selected.
        setPicked((before) => before.difference(new Set(requestIds)))
      }
      return { restoredCount, skippedAtCap, goneCount: ids.length - restoredCount - skippedAtCap }
    },
    [['bin'], ['endpoints']],
  )
  const pick = (id: number, isPicked: boolean) =>
    setPicked((before) => {
      const after = new Set(before)
      if (isPicked) after.add(id)
      else after.delete(id)
      return after
    })
  return (
    <Page
      title="Recycle bin"
      head={pages.data !== undefined && <span className="hint">{plural(totalCount, 'request')}</span>}
    >
      <Problem error={pages.error ?? restore.error} onRetry={() => void pages.refetch()} />
      {restore.data !== undefined && (
        <p
          className="banner"
          data-tone={restore.data.skippedAtCap + restore.data.goneCount === 0 ? 'ok' : 'warn'}
          role="status"
        >
          {plural(restore.data.restoredCount, 'request')} restored
          {restore.data.skippedAtCap > 0 &&
            `, ${restore.data.skippedAtCap} not restored: the endpoint is full`}
          {restore.data.goneCount > 0 && `, ${restore.data.goneCount} no longer in the recycle bin`}
        </p>
      )}
      {pages.isLoading && <Bones />}
      {pages.data !== undefined && items.length === 0 && (
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
              <Button onClick={() => setPicked(new Set(items.map(({ id }) => id)))}>Select all shown</Button>
              {picked.size > 0 && (
                <Button look="quiet" onClick={() => setPicked(new Set())}>
                  Clear
                </Button>
              )}
            </div>
          </Writes>
          <Table
            heads={['Select', 'Request', 'Endpoint', 'Size', 'Deleted', 'Deleted permanently']}
            hidden="Select"
          >
            {items.map(({ deletedAt, endpointName, id, label, method, path, purgesAt, sizeBytes }) => (
              <tr key={id}>
                <td>
                  <CheckField
                    label={<span className="sr-only">Select #{id}</span>}
                    value={picked.has(id)}
                    onChange={(isPicked) => pick(id, isPicked)}
                  />
                </td>
                <th scope="row">
                  <span className="two-lines" title={visible(label ?? path)}>
                    #{id} <Method method={method} /> {visible(label ?? (path || '/'))}
                  </span>
                </th>
                <td>{visible(endpointName)}</td>
                <td>{bytes(sizeBytes)}</td>
                <td title={fullTime(deletedAt)}>{ago(deletedAt)}</td>
                <td title={fullTime(purgesAt)}>{ago(purgesAt)}</td>
              </tr>
            ))}
          </Table>
          <More of={pages}>More</More>
        </>
      )}
    </Page>
  )
}
