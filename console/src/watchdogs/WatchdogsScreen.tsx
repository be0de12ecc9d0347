import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { NoLongerThere } from '../parts/FormFoot.tsx'
import { Page } from '../parts/Page.tsx'
import { Problem, QueryState } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { WriteLink, Writes } from '../parts/Writes.tsx'
import { watchdogsQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { ago, clock, count, fullTime, interval, plural } from '../words/format.ts'
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
        <QueryState of={list} />
        {id !== 'new' && list.data !== undefined && list.data.totalCount <= items.length && (
          <NoLongerThere what="watchdog" id={id} of={list} items={items} keptAs={`watchdog ${id}`} />
        )}
        {id === 'new' && <WatchdogForm watchdog={undefined} onClose={close} />}
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
  const turn = useCall(
    () => creel.watchdogs.setActive.mutate({ id: watchdog.id, active: !watchdog.active }),
    [['watchdogs']],
  )
  const { tone, words } = STATES[watchdog.state]
  return (
    <section className="card" aria-label={watchdog.name}>
      <div className="section-head">
        <h2>
          <Link href={isOpen ? '/watchdogs' : `/watchdogs/${watchdog.id}`}>{watchdog.name}</Link>{' '}
          <Badge tone={tone}>{words}</Badge>
        </h2>
        <span className="hint">
          every {interval(watchdog.expectedIntervalSeconds)}, {interval(watchdog.graceSeconds)} grace ·{' '}
          <Link className="link" href={`/e/${watchdog.endpointId}`}>
            {watchdog.endpointName}
          </Link>
        </span>
        <span className="acts">
          <Button look="small" {...turn.button()}>
            {watchdog.active ? 'Pause' : 'Resume'}
          </Button>
          <Link className="button small" href={isOpen ? '/watchdogs' : `/watchdogs/${watchdog.id}`}>
            {isOpen ? 'Close' : 'Change'}
          </Link>
        </span>
      </div>
      <Problem error={turn.error} />
      <p className="facts">
        <span>
          last match{' '}
          <b title={watchdog.lastMatchedAt === null ? undefined : fullTime(watchdog.lastMatchedAt)}>
            {ago(watchdog.lastMatchedAt)}
          </b>
        </span>
        {watchdog.dueAt !== null && watchdog.state !== 'paused' && (
          <span>
            due <b title={ago(watchdog.dueAt)}>{clock(watchdog.dueAt)}</b>
          </span>
        )}
        {watchdog.alarmAt !== null && watchdog.state !== 'paused' && watchdog.alarmedAt === null && (
          <span>
            alarm <b title={ago(watchdog.alarmAt)}>{clock(watchdog.alarmAt)}</b>
          </span>
        )}
        {watchdog.alarmedAt !== null && watchdog.state === 'alarmed' && (
          <span className="bad">
            alarmed <b title={fullTime(watchdog.alarmedAt)}>{ago(watchdog.alarmedAt)}</b>
          </span>
        )}
        {watchdog.pausedByPlan && <span className="warn">suspended: over the plan limit</span>}
      </p>
      <Timeline watchdog={watchdog} />
      {isOpen && <WatchdogForm watchdog={watchdog} onClose={onClose} />}
    </section>
  )
}

const WIDTH = 1000
const HEIGHT = 34
const MIDDLE = 15
/** One tick an interval. */
const TICKS = Array.from({ length: 9 }, (_, at) => at / 8)
const REFRESH_MS = 30_000

/** Recent history: matches, alarms and their duration, and downtime of the service. */
function Timeline({ watchdog }: { watchdog: Watchdog }) {
  const timeline = useQuery({
    queryKey: ['watchdog timeline', watchdog.id, watchdog.lastMatchedAt, watchdog.alarmedAt],
    queryFn: () => creel.watchdogs.timeline.query({ id: watchdog.id }),
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  })
  if (timeline.data === undefined) return <div className="timeline" aria-busy="true" />
  const { alarms, matches, outages } = timeline.data
  const from = Date.parse(timeline.data.from)
  const to = Date.parse(timeline.data.to)
  const x = (at: string | number) => {
    const moment = typeof at === 'number' ? at : Date.parse(at)
    return Math.max(0, Math.min(WIDTH, ((moment - from) / (to - from)) * WIDTH))
  }
  const seconds = Math.round((to - from) / 1000)
  const said = [
    matches.length === 1 ? '1 match' : `${count(matches.length)} matches`,
    plural(alarms.length, 'alarm'),
    ...(outages.length > 0 ? [`${plural(outages.length, 'outage')} of the service`] : []),
  ].join(', ')
  return (
    <figure className="timeline">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`The last ${interval(seconds)}: ${said}`}
      >
        {TICKS.map((at) => (
          <line key={at} className="tick" x1={at * WIDTH} x2={at * WIDTH} y1="4" y2="26" />
        ))}
        <line className="base" x1="0" x2={WIDTH} y1={MIDDLE} y2={MIDDLE} />
        {outages.map((outage) => (
          <rect
            key={outage.from}
            className="down"
            x={x(outage.from)}
            y="5"
            height="20"
            width={Math.max(3, x(outage.to) - x(outage.from))}
          >
            <title>
              The service was down from {fullTime(outage.from)} to {fullTime(outage.to)}
            </title>
          </rect>
        ))}
        {alarms.map(({ alarmedAt, recoveredAt }) => (
          <rect
            key={alarmedAt}
            className="late"
            x={x(alarmedAt)}
            y="10"
            height="10"
            width={Math.max(3, x(recoveredAt ?? to) - x(alarmedAt))}
          >
            <title>
              Alarmed {fullTime(alarmedAt)}
              {recoveredAt === null ? ', still alarmed' : `, recovered ${fullTime(recoveredAt)}`}
            </title>
          </rect>
        ))}
        {matches.map(({ at, requestId }) => (
          <line key={requestId} className="match" x1={x(at)} x2={x(at)} y1="8" y2="22">
            <title>
              #{requestId}, {fullTime(at)}
            </title>
          </line>
        ))}
      </svg>
      <figcaption>
        <span>{interval(seconds)} ago</span>
        <span>{said}</span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}
