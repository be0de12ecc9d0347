import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Bones } from '../parts/Bones.tsx'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Writes } from '../parts/Writes.tsx'
import { PageHead } from '../shell/PageHead.tsx'
import { creel } from '../trpc.ts'
import { ChannelForm } from './ChannelForm.tsx'
import { ChannelItem } from './ChannelItem.tsx'
import { History } from './History.tsx'
import { Incidents } from './Incidents.tsx'

/** Alert channels, open incidents, and the history of sends. */
export function AlertsScreen() {
  const channels = useQuery({
    queryKey: ['channels'],
    queryFn: () => creel.alertChannels.list.query({ page: 1, pageSize: 100 }),
  })
  const [open, setOpen] = useState<string>()
  const items = channels.data?.items ?? []
  return (
    <main id="main" className="page">
      <PageHead title="Alerts" />
      <div className="page-body">
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
                No channels yet. Add Slack, Discord, Telegram, PagerDuty or a webhook. Until then, contacts
                get alerts by mail.
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
      </div>
    </main>
  )
}
