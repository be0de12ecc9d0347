import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Bones, Problem } from '../parts/Problem.tsx'
import { useCall } from '../parts/useForm.ts'
import { WriteLink, Writes } from '../parts/Writes.tsx'
import { actionsQuery } from '../queries.ts'
import { creel, type Endpoint } from '../trpc.ts'
import { isLimit, ofLimit } from '../words/format.ts'
import { ActionForm } from './ActionForm.tsx'
import { ActionItem } from './ActionItem.tsx'
import { Backlog } from './Backlog.tsx'

/** Figures are read again this often while the page is seen. */
const HEALTH_EVERY_MS = 10_000

/** The actions of an endpoint, in the order they run; `item` is the id of the open one, or `new`. */
export function ActionsScreen({ endpoint, item }: { endpoint: Endpoint; item: string | undefined }) {
  const list = useQuery(actionsQuery(endpoint.id))
  const health = useQuery({
    queryKey: ['action health', endpoint.id],
    queryFn: () => creel.actions.health.query({ endpointId: endpoint.id }),
    refetchInterval: HEALTH_EVERY_MS,
  })
  const [, navigate] = useLocation()
  const [dragged, setDragged] = useState<string>()
  const home = `/e/${endpoint.id}/actions`
  const change = useCall(
    ({ actionId, ...members }: { actionId: string; position?: number; isActive?: boolean }) =>
      creel.actions.update.mutate({ endpointId: endpoint.id, actionId, ...members }),
    [['actions', endpoint.id]],
  )
  if (list.data === undefined) {
    return list.error === null ? (
      <Bones />
    ) : (
      <Problem error={list.error} onRetry={() => void list.refetch()} />
    )
  }
  const { actions, canAddMore, limit, options } = list.data
  const move = (actionId: string, position: number) => {
    if (position >= 1 && position <= actions.length) change.mutate({ actionId, position })
  }
  return (
    <Writes>
      <div className="section-head">
        <h2>Actions</h2>
        <span className="hint">
          {isLimit(limit) && `${ofLimit(actions.length, limit)} on ${options.planName}`}
        </span>
        {canAddMore && item !== 'new' && (
          <WriteLink href={`${home}/new`} className="button primary">
            <Plus size={14} /> Add action
          </WriteLink>
        )}
      </div>
      <Problem error={change.error} />
      {item === 'new' && (
        <ActionForm endpoint={endpoint} action={undefined} options={options} onClose={() => navigate(home)} />
      )}
      {actions.length === 0 && item !== 'new' && (
        <div className="nothing">
          <p>
            No actions yet. An action sends each capture on: it forwards it to a URL, with retries, or posts a
            message to an alert channel.
          </p>
        </div>
      )}
      <ol className="cards" aria-label="Actions, in the order they run">
        {actions.map((action) => (
          <ActionItem
            key={action.id}
            endpoint={endpoint}
            action={action}
            health={health.data?.items.find(({ actionId }) => actionId === action.id)}
            isOpen={item === action.id}
            isBusy={change.isPending}
            onMove={(by) => move(action.id, action.position + by)}
            onDrag={() => setDragged(action.id)}
            onDrop={() => {
              if (dragged !== undefined && dragged !== action.id) move(dragged, action.position)
              setDragged(undefined)
            }}
            onSwitch={(isActive) => change.mutate({ actionId: action.id, isActive })}
          >
            {action.kind === 'forward' && <Backlog endpoint={endpoint} action={action} />}
            <ActionForm
              endpoint={endpoint}
              action={action}
              options={options}
              onClose={() => navigate(home)}
            />
          </ActionItem>
        ))}
      </ol>
    </Writes>
  )
}
