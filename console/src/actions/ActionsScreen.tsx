import { useQuery } from '@tanstack/react-query'
import { GripVertical, Plus } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { NoLongerThere } from '../parts/FormFoot.tsx'
import { MoveButtons } from '../parts/Menu.tsx'
import { Problem, QueryState } from '../parts/Problem.tsx'
import { Switch } from '../parts/Segments.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { useIsReader, WriteLink, Writes } from '../parts/Writes.tsx'
import { actionsQuery } from '../queries.ts'
import { type Action, type Answers, creel, type Endpoint } from '../trpc.ts'
import { count, duration, isLimit, ofLimit, plural, withoutScheme } from '../words/format.ts'
import { ActionForm } from './ActionForm.tsx'
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
  if (list.data === undefined) return <QueryState of={list} />
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
      {item !== 'new' && (
        <NoLongerThere
          what="action"
          id={item}
          of={list}
          items={actions}
          keptAs={`action form ${endpoint.id} ${item}`}
        />
      )}
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
            onDrag={(isBegun) => setDragged(isBegun ? action.id : undefined)}
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

interface Props {
  readonly endpoint: Endpoint
  readonly action: Action
  readonly health: Health | undefined
  readonly isOpen: boolean
  readonly isBusy: boolean
  readonly onMove: (by: number) => void
  readonly onDrag: (isBegun: boolean) => void
  readonly onDrop: () => void
  readonly onSwitch: (isActive: boolean) => void
  readonly children: ReactNode
}

/**
 * One action: its line, and its form below while it is open. It can be moved by dragging, by buttons, and by Alt and
 * arrows.
 */
function ActionItem({
  endpoint,
  action,
  health,
  isOpen,
  isBusy,
  onMove,
  onDrag,
  onDrop,
  onSwitch,
  children,
}: Props) {
  const { conditionDescription, id, isActive, kind, name, position, ruleCount, signing } = action
  const isReader = useIsReader()
  const press = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!event.altKey || by === undefined) return
    event.preventDefault()
    if (!isBusy && !isReader) onMove(by)
  }
  const home = `/e/${endpoint.id}/actions`
  return (
    <li onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: buttons beside it move it too */}
      <div
        className="item"
        data-open={isOpen}
        draggable
        onKeyDown={press}
        onDragStart={() => onDrag(true)}
        onDragEnd={() => onDrag(false)}
      >
        <GripVertical size={14} className="grip" />
        <span className="hint num">{position}</span>
        <Link href={isOpen ? home : `${home}/${id}`} className="item-name" aria-expanded={isOpen}>
          {name}
        </Link>
        <span className="item-what">
          {kind} →{' '}
          {kind === 'notify' ? (action.alertChannelName ?? 'no channel') : withoutScheme(action.url ?? '')}
          <span className="hint"> · {conditionDescription}</span>
        </span>
        {health !== undefined && <ActionFigures health={health} />}
        {action.channelUnavailable && <Badge tone="bad">channel unavailable</Badge>}
        {action.suspendedByPlan && <Badge tone="warn">suspended: over the plan limit</Badge>}
        {ruleCount > 0 && (
          <Link className="link" href={`/e/${endpoint.id}/rules?action=${id}`}>
            {plural(ruleCount, 'rule')}
          </Link>
        )}
        {action.pausedAt !== null && <Badge tone="warn">paused</Badge>}
        {signing.signed && <Badge>signed</Badge>}
        <Switch isOn={isActive} isDisabled={isBusy} onChange={onSwitch} label={`${name} is switched on`}>
          {isActive ? 'on' : 'off'}
        </Switch>
        <MoveButtons hasKeys name={name} isBusy={isBusy} onMove={onMove} />
      </div>
      {isOpen && <div className="item-body">{children}</div>}
    </li>
  )
}

type Health = Answers['actions']['health']['items'][number]

/** Below this share of successes an action is marked. */
const GOOD_SHARE = 0.95

/** Success rate, duration and backlog of an action in the last hour; nothing for an action without any. */
function ActionFigures({ health }: { readonly health: Health }) {
  const { attempts, p95Ms, succeeded, unfinished } = health
  if (attempts === 0 && unfinished === 0) return null
  const share = attempts === 0 ? 1 : succeeded / attempts
  // Rounded down, so that only an action without a failure shows 100 %.
  const percent = Math.floor(share * 100)
  return (
    <span className="figures num" title="In the last hour">
      {attempts > 0 && (
        <span className={share < GOOD_SHARE ? 'bad' : 'ok'}>
          {percent} % of {plural(attempts, 'attempt')}
        </span>
      )}
      {p95Ms !== null && <span className="hint">p95 {duration(p95Ms)}</span>}
      {unfinished > 0 && <span className="hint">{count(unfinished)} waiting</span>}
    </span>
  )
}
