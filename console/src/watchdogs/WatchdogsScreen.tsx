import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Page } from '../parts/Page.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { WriteLink, Writes } from '../parts/Writes.tsx'
import { watchdogsQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { ago, clock, fullTime, interval } from '../words/format.ts'
import { Timeline } from './Timeline.tsx'
import { type Watchdog, WatchdogForm } from './WatchdogForm.tsx'

const STATES: Readonly<Record<Watchdog['state'], { words: string; tone: string }>> = {
  waiting: { words: 'waiting for first match', tone: 'plain' },
  onTime: { words: 'on time', tone: 'ok' },
  late: { words: 'late', tone: 'warn' },
  alarmed: { words: 'alarmed', tone: 'bad' },
  paused: { words: 'paused', tone: 'plain' },
}

/** Every watchdog; `id` is the one being edited, or `new`. */
export function WatchdogsScreen({ id }: { id: string | undefined }) {
  const list = useQuery(watchdogsQuery)
  const [, navigate] = useLocation()
  const close = () => navigate('/watchdogs')
  const items = list.data?.items ?? []
  return (
    <Page
      title="Watchdogs"
      head={
        <>
          <span className="grow" />
          {id !== 'new' && (
            <WriteLink href="/watchdogs/new" className="button primary">
              <Plus size={14} /> Add watchdog
            </WriteLink>
          )}
        </>
      }
    >
      <Writes>
        <Problem error={list.error} onRetry={() => void list.refetch()} />
        {id === 'new' && <WatchdogForm watchdog={undefined} onClose={close} />}
        {list.isLoading && <Bones />}
        {list.data !== undefined && items.length === 0 && id !== 'new' && (
          <div className="nothing">
            <h2>No watchdogs yet</h2>
            <p>
              A watchdog alerts you when an expected request does not arrive, such as a nightly export or an
              hourly heartbeat.
            </p>
            <WriteLink href="/watchdogs/new" className="button primary">
              Add watchdog
            </WriteLink>
          </div>
        )}
        {items.map((watchdog) => (
          <Item key={watchdog.id} watchdog={watchdog} isOpen={id === watchdog.id} onClose={close} />
        ))}
      </Writes>
    </Page>
  )
}

function Item({ watchdog, isOpen, onClose }: { watchdog: Watchdog; isOpen: boolean; onClose: () => void }) {
  const {
    active,
    dueAt,
    alarmAt,
    alarmedAt,
    endpointId,
    endpointName,
    graceSeconds,
    id,
    lastMatchedAt,
    name,
    state,
  } = watchdog
  const turn = useCall(() => creel.watchdogs.setActive.mutate({ id, active: !active }), [['watchdogs']])
  const { tone, words } = STATES[state]
  return (
    <section className="card" aria-label={name}>
      <div className="section-head">
        <h2>
          <Link href={isOpen ? '/watchdogs' : `/watchdogs/${id}`}>{name}</Link>{' '}
          <Badge tone={tone}>{words}</Badge>
        </h2>
        <span className="hint">
          every {interval(watchdog.expectedIntervalSeconds)}, {interval(graceSeconds)} grace ·{' '}
          <Link className="link" href={`/e/${endpointId}`}>
            {endpointName}
          </Link>
        </span>
        <span className="acts">
          <Button look="small" disabled={turn.isPending} onClick={() => turn.mutate()}>
            {active ? 'Pause' : 'Resume'}
          </Button>
          <Link className="button small" href={isOpen ? '/watchdogs' : `/watchdogs/${id}`}>
            {isOpen ? 'Close' : 'Change'}
          </Link>
        </span>
      </div>
      <Problem error={turn.error} />
      <p className="facts">
        <span>
          last match{' '}
          <b title={lastMatchedAt === null ? undefined : fullTime(lastMatchedAt)}>{ago(lastMatchedAt)}</b>
        </span>
        {dueAt !== null && state !== 'paused' && (
          <span>
            due <b title={ago(dueAt)}>{clock(dueAt)}</b>
          </span>
        )}
        {alarmAt !== null && state !== 'paused' && alarmedAt === null && (
          <span>
            alarm <b title={ago(alarmAt)}>{clock(alarmAt)}</b>
          </span>
        )}
        {alarmedAt !== null && state === 'alarmed' && (
          <span className="bad">
            alarmed <b title={fullTime(alarmedAt)}>{ago(alarmedAt)}</b>
          </span>
        )}
        {watchdog.pausedByPlan && <span className="warn">suspended: over the plan limit</span>}
      </p>
      <Timeline watchdog={watchdog} />
      {isOpen && <WatchdogForm watchdog={watchdog} onClose={onClose} />}
    </section>
  )
}
