import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { choices, named, Select } from '../parts/Field.tsx'
import { Menu, MenuItem } from '../parts/Menu.tsx'
import { Page } from '../parts/Page.tsx'
import { Problem, QueryState } from '../parts/Problem.tsx'
import { Switch } from '../parts/Segments.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { More, Table, usePages } from '../parts/Table.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { openIncidentsQuery } from '../queries.ts'
import { type Answers, creel } from '../trpc.ts'
import { ago, duration, fullTime, plural } from '../words/format.ts'
import { CHANNELS, type Channel, ChannelForm, useEventName } from './ChannelForm.tsx'

/** Alert channels, open incidents, and the history of sends. */
export function AlertsScreen() {
  const channels = useQuery({
    queryKey: CHANNELS,
    queryFn: () => creel.alertChannels.list.query({ page: 1, pageSize: 100 }),
  })
  const [open, setOpen] = useState<string>()
  const items = channels.data?.items ?? []
  return (
    <Page title="Alerts">
      <Incidents />
      <Writes>
        <section className="cards" aria-label="Channels">
          <div className="section-head">
            <h2>Channels</h2>
            {open !== 'new' && (
              <Button look="primary" onClick={() => setOpen('new')}>
                <Plus size={14} /> Add channel
              </Button>
            )}
          </div>
          <QueryState of={channels} />
          {open === 'new' && <ChannelForm channel={undefined} onClose={() => setOpen(undefined)} />}
          {channels.data !== undefined && items.length === 0 && open !== 'new' && (
            <p className="hint">
              No channels yet. Add Slack, Discord, Telegram, PagerDuty or a webhook. Until then, contacts get
              alerts by mail.
            </p>
          )}
          {items.map((channel) => (
            <ChannelItem
              key={channel.id}
              channel={channel}
              isOpen={open === channel.id}
              onToggle={() => setOpen(open === channel.id ? undefined : channel.id)}
            />
          ))}
        </section>
      </Writes>
      <History channels={items} />
    </Page>
  )
}

function Incidents() {
  const eventName = useEventName()
  const incidents = useQuery(openIncidentsQuery)
  const items = incidents.data?.items ?? []
  return (
    <section className="cards" aria-label="Incidents">
      <h2>Open incidents</h2>
      <Problem error={incidents.error} onRetry={() => void incidents.refetch()} />
      {incidents.data !== undefined && items.length === 0 && <p className="hint">No open incidents.</p>}
      {items.map((incident) => (
        <IncidentItem key={incident.id} incident={incident} eventName={eventName} />
      ))}
    </section>
  )
}

type Incident = Answers['incidents']['list']['items'][number]

interface IncidentProps {
  readonly incident: Incident
  readonly eventName: (kind: string) => string
}

function IncidentItem({ incident, eventName }: IncidentProps) {
  const { count, kind, openedAt, subjectName } = incident
  const place = placeOf(incident)
  return (
    <div className="item">
      <Badge tone="bad">{eventName(kind)}</Badge>
      <span className="item-name">{subjectName}</span>
      <span className="item-what" title={fullTime(openedAt)}>
        {count > 1 && `${plural(count, 'request')}, `}since {ago(openedAt)}
      </span>
      {place !== undefined && (
        <Link className="button small" href={place}>
          Show
        </Link>
      )}
    </div>
  )
}

/** Address of the screen that shows what an incident is about. */
function placeOf({ endpointId, kind, subjectId, subjectType }: Incident): string | undefined {
  if (subjectType === 'watchdog') return `/watchdogs/${subjectId}`
  if (endpointId === null) return undefined
  const home = `/e/${endpointId}`
  if (subjectType === 'rule') return `${home}/rules`
  if (subjectType !== 'action') return home
  return DEAD_LETTERS.includes(kind)
    ? `${home}/deliveries?state=DeadLetter&action=${subjectId}`
    : `${home}/actions/${subjectId}`
}

/** Kinds of incidents that dead letters open. */
const DEAD_LETTERS: readonly string[] = ['delivery.parked', 'delivery.held']

const HOUR_MS = 3_600_000
const MUTES = [
  { words: 'For an hour', hours: 1 },
  { words: 'For 8 hours', hours: 8 },
  { words: 'For a day', hours: 24 },
] as const

const TONES: Readonly<Record<string, string>> = {
  healthy: 'ok',
  verified: 'ok',
  failing: 'bad',
  untested: 'warn',
}

interface Props {
  readonly channel: Channel
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** One channel: its health in the provider's words, and its buttons. */
function ChannelItem({ channel, isOpen, onToggle }: Props) {
  const change = useCall(
    (members: { enabled?: boolean; mutedUntil?: string }) =>
      creel.alertChannels.update.mutate({ id: channel.id, ...members }),
    [CHANNELS],
  )
  const test = useCall(() => creel.alertChannels.test.mutate({ id: channel.id }), [CHANNELS])
  const isMuted = channel.mutedUntil !== null && Date.parse(channel.mutedUntil) > Date.now()
  return (
    <div>
      <div className="item" data-open={isOpen}>
        <button type="button" className="item-name" aria-expanded={isOpen} onClick={onToggle}>
          {channel.name}
        </button>
        <Badge>{channel.kind}</Badge>
        <Badge tone={channel.connected ? TONES[channel.health] : 'warn'}>
          {channel.connected ? channel.health : 'incomplete'}
        </Badge>
        {isMuted && <Badge>muted, ends {ago(channel.mutedUntil)}</Badge>}
        <span className="item-what">
          {channel.destination}{' '}
          {channel.consecutiveFailures > 0 ? (
            <span className="bad">
              {plural(channel.consecutiveFailures, 'failure')} in a row: {channel.lastError}
            </span>
          ) : (
            channel.lastSuccessAt !== null && `sent ${ago(channel.lastSuccessAt)}`
          )}
        </span>
        <Button look="small" disabled={test.isPending || !channel.connected} onClick={() => test.mutate()}>
          {test.isPending ? 'Testing…' : 'Test'}
        </Button>
        {isMuted ? (
          <Button look="small" onClick={() => change.mutate({ mutedUntil: '' })}>
            Unmute
          </Button>
        ) : (
          <Menu className="button small" button="Mute">
            {MUTES.map(({ hours, words }) => (
              <MenuItem
                key={hours}
                onClick={() =>
                  change.mutate({ mutedUntil: new Date(Date.now() + hours * HOUR_MS).toISOString() })
                }
              >
                {words}
              </MenuItem>
            ))}
          </Menu>
        )}
        <Switch
          isOn={channel.enabled}
          isDisabled={change.isPending}
          label={`${channel.name} is switched on`}
          onChange={(on) => change.mutate({ enabled: on })}
        >
          {channel.enabled ? 'on' : 'off'}
        </Switch>
      </div>
      {test.data !== undefined && (
        <p className="banner" data-tone={test.data.delivered ? 'ok' : 'bad'} role="status">
          {test.data.delivered
            ? `Delivered in ${duration(test.data.durationMs)}.`
            : `Refused: ${test.data.detail ?? test.data.statusCode}`}
        </p>
      )}
      <Problem error={change.error ?? test.error} />
      {isOpen && (
        <div className="item-body">
          <ChannelForm channel={channel} onClose={onToggle} />
        </div>
      )}
    </div>
  )
}

const DELIVERY_TONES = { delivered: 'ok', failed: 'bad', muted: 'plain', suppressed: 'plain' } as const

type Outcome = keyof typeof DELIVERY_TONES

const OUTCOMES = [
  { value: '', words: 'All outcomes' } as const,
  ...choices('delivered', 'failed', 'muted', 'suppressed'),
]

/** Every send of the last 30 days, newest first. */
function History({ channels }: { channels: readonly Channel[] }) {
  const eventName = useEventName()
  const [channelId, setChannelId] = useState('')
  const [outcome, setOutcome] = useState<Outcome | ''>('')
  const filters = { channelId: channelId || undefined, outcome: outcome || undefined }
  const { items, pages } = usePages(['alert history', filters], 25, (page) =>
    creel.alertChannels.deliveries.query({ ...filters, ...page }),
  )
  return (
    <section className="cards" aria-label="History">
      <div className="section-head">
        <h2>History</h2>
        <Select
          label="Channel"
          value={channelId}
          options={named(channels, 'All channels')}
          onChange={setChannelId}
        />
        <Select label="Outcome" value={outcome} options={OUTCOMES} onChange={setOutcome} />
      </div>
      <Problem error={pages.error} onRetry={() => void pages.refetch()} />
      {pages.data !== undefined && items.length === 0 && (
        <p className="hint">{channelId === '' && outcome === '' ? 'No alerts sent.' : 'No alerts match.'}</p>
      )}
      {items.length > 0 && (
        <Table heads={['Time', 'Event', 'Subject', 'Channel', 'Outcome']}>
          {items.map((sent) => (
            <tr key={sent.id}>
              <td title={fullTime(sent.at)}>{ago(sent.at)}</td>
              <td>
                {eventName(sent.eventKind)} <span className="hint">{sent.severity}</span>
              </td>
              <th scope="row">{sent.subjectName}</th>
              <td>
                {sent.channelName ?? sent.channelKind}
                {sent.emailFallback && <span className="hint"> by mail, as a channel failed</span>}
              </td>
              <td>
                <Badge tone={DELIVERY_TONES[sent.outcome]}>{sent.outcome}</Badge> {sent.detail}
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More of={pages}>Older</More>
    </section>
  )
}
