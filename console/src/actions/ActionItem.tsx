import { GripVertical } from 'lucide-react'
import type { KeyboardEvent, ReactNode } from 'react'
import { Link } from 'wouter'
import { MoveButtons } from '../parts/Menu.tsx'
import { Switch } from '../parts/Segments.tsx'
import { Badge } from '../parts/StateMark.tsx'
import type { Action, Answers, Endpoint } from '../trpc.ts'
import { count, duration, plural, withoutScheme } from '../words/format.ts'

interface Props {
  readonly endpoint: Endpoint
  readonly action: Action
  readonly health: Health | undefined
  readonly isOpen: boolean
  readonly isBusy: boolean
  readonly onMove: (by: number) => void
  readonly onDrag: () => void
  readonly onDrop: () => void
  readonly onSwitch: (isActive: boolean) => void
  readonly children: ReactNode
}

/**
 * One action: its line, and its form below while it is open. It can be moved by dragging, by buttons, and by Alt and
 * arrows.
 */
export function ActionItem({
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
  const press = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!event.altKey || by === undefined) return
    event.preventDefault()
    onMove(by)
  }
  const home = `/e/${endpoint.id}/actions`
  return (
    <li onKeyDown={press} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: buttons beside it move it too */}
      <div className="item" data-open={isOpen} draggable onDragStart={onDrag}>
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
