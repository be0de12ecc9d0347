import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Bones } from '../parts/Bones.tsx'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Writes } from '../parts/Writes.tsx'
import { Page } from '../shell/Page.tsx'
import { openIncidentsQuery } from '../shell/queries.ts'
import { creel } from '../trpc.ts'
import { ago, fullTime, plural } from '../words/format.ts'
import { ChannelForm } from './ChannelForm.tsx'
import { ChannelItem } from './ChannelItem.tsx'
import { CHANNELS, useEventName } from './channel.ts'
import { History } from './History.tsx'

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
          <Problem error={channels.error} onRetry={() => void channels.refetch()} />
          {channels.isLoading && <Bones />}
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
      {items.map(({ count, endpointId, id, kind, openedAt, subjectName }) => (
        <div key={id} className="item">
          <span className="badge" data-tone="bad">
            {eventName(kind)}
          </span>
          <span className="item-name">{subjectName}</span>
          <span className="item-what" title={fullTime(openedAt)}>
            {count > 1 && `${plural(count, 'request')}, `}since {ago(openedAt)}
          </span>
          {endpointId !== null && (
            <Link className="button small" href={`/e/${endpointId}/deliveries?state=DeadLetter`}>
              Show
            </Link>
          )}
        </div>
      ))}
    </section>
  )
}
