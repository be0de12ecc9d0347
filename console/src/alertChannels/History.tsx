import { useState } from 'react'
import { named, Select } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { More, Table, usePages } from '../parts/Table.tsx'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'
import { type Channel, useEventName } from './channel.ts'

const TONES = { delivered: 'ok', failed: 'bad', muted: 'plain', suppressed: 'plain' } as const

type Outcome = keyof typeof TONES

const OUTCOMES: readonly { value: Outcome | ''; words: string }[] = [
  { value: '', words: 'All outcomes' },
  ...(['delivered', 'failed', 'muted', 'suppressed'] as const).map((value) => ({ value, words: value })),
]

/** Every send of the last 30 days, newest first. */
export function History({ channels }: { channels: readonly Channel[] }) {
  const eventName = useEventName()
  const [channelId, setChannelId] = useState('')
  const [outcome, setOutcome] = useState<Outcome | ''>('')
  const filters = {
    ...(channelId === '' ? {} : { channelId }),
    ...(outcome === '' ? {} : { outcome }),
  }
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
      {pages.data !== undefined && items.length === 0 && <p className="hint">No alerts sent.</p>}
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
                <Badge tone={TONES[sent.outcome]}>{sent.outcome}</Badge> {sent.detail}
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More of={pages}>Older</More>
    </section>
  )
}
