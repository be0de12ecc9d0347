import { useQuery } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { useLocation } from 'wouter'
import { useAddress } from '../address.ts'
import type { CaptureStream } from '../live/captureStream.ts'
import { startBulk } from '../parts/BulkBar.tsx'
import { Button } from '../parts/Button.tsx'
import { Menu, MenuItem } from '../parts/Menu.tsx'
import { Writes } from '../parts/Writes.tsx'
import { actionsQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { count } from '../words/format.ts'
import type { Filters } from '../words/grammar.ts'
import type { Selection } from './selection.ts'

interface Props {
  readonly endpointId: string
  readonly filters: Filters
  readonly stream: CaptureStream
  readonly selection: Selection
  /** Deletes the selected requests. */
  readonly onRemove: () => void
}

/** Number of selected requests, with commands for all of them. */
export function SelectionBar({ endpointId, filters, stream, selection, onRemove }: Props) {
  const totalCount = useSyncExternalStore(stream.subscribe, () => stream.get().totalCount)
  const isEstimate = useSyncExternalStore(stream.subscribe, () => stream.get().isEstimate)
  const allWords = isEstimate ? 'All matches' : `All ${count(totalCount)} matches`
  const actions = useQuery(actionsQuery(endpointId))
  const [, navigate] = useLocation()
  const [params] = useAddress()
  const { isAll } = selection
  const rehearse = () => {
    const chosenBy = isAll ? { q: params.get('q') ?? '' } : { requests: [...selection.picked].join(',') }
    navigate(`/e/${endpointId}/rehearse?${new URLSearchParams(chosenBy)}`)
  }
  const replay = (actionId?: string) => {
    const chosen = selection.chosen(filters)
    const isStarted = startBulk(endpointId, 'queued for replay', chosen, async (ids) => {
      const { queuedCount, skippedCount } = await creel.requests.bulkReplay.mutate({
        endpointId,
        requestIds: [...ids],
        actionId,
      })
      return { done: queuedCount, skipped: skippedCount }
    })
    if (isStarted) selection.clear()
  }
  return (
    <div className="selection" role="toolbar" aria-label="Selected captures">
      <b>{isAll ? allWords : `${count(selection.picked.size)} selected`}</b>
      {!isAll && totalCount > selection.picked.size && (
        <Button look="small quiet" onClick={selection.pickAll}>
          {allWords}
        </Button>
      )}
      <Writes>
        <Menu
          className="button"
          button={
            <>
              Replay <ChevronDown size={12} />
            </>
          }
        >
          <MenuItem onClick={() => replay()}>Through all matching actions</MenuItem>
          {actions.data?.actions.map(({ id, name }) => (
            <MenuItem key={id} onClick={() => replay(id)}>
              {name}
            </MenuItem>
          ))}
          <MenuItem onClick={rehearse}>Rehearse…</MenuItem>
        </Menu>
        <Button onClick={onRemove}>Delete</Button>
      </Writes>
      <Button look="quiet" onClick={selection.clear}>
        Clear
      </Button>
    </div>
  )
}
