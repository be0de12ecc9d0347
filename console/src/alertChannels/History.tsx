import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { More } from '../parts/More.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'
import { type Channel, useEventName } from './channel.ts'

const OUTCOMES = ['delivered', 'failed', 'muted', 'suppressed'] as const
const TONES: Readonly<Record<(typeof OUTCOMES)[number], string>> = {
  delivered: 'ok',
  failed: 'bad',
  muted: 'plain',
  suppressed: 'plain',
}
const PAGE = 25

/** Every send of the last 30 days, newest first. */
export function History({ channels }: { channels: readonly Channel[] }) {
  const [channelId, setChannelId] = useState('')
  const [outcome, setOutcome] = useState<(typeof OUTCOMES)[number]>()
  const filters = {
    ...(channelId === '' ? {} : { channelId }),
    ...(outcome === undefined ? {} : { outcome }),
  }
  const history = useInfiniteQuery({
    queryKey: ['alert history', filters],
    queryFn: ({ pageParam }) =>
      creel.alertChannels.deliveries.query({ ...filters, page: pageParam, pageSize: PAGE }),
    initialPageParam: 1,
    getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
  })
  const eventName = useEventName()
  const items = history.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <section className="cards" aria-label="History">
      <div className="section-head">
        <h2>History</h2>
        <select
          className="select"
          aria-label="Channel"
          value={channelId}
          onChange={({ target }) => setChannelId(target.value)}
        >
          <option value="">All channels</option>
          {channels.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <select
          className="select"
          aria-label="Outcome"
          value={outcome ?? ''}
          onChange={({ target }) => setOutcome(OUTCOMES.find((one) => one === target.value))}
        >
          <option value="">All outcomes</option>
          {OUTCOMES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <Problem error={history.error} onRetry={() => void history.refetch()} />
      {history.data !== undefined && items.length === 0 && <p className="hint">No alerts sent.</p>}
      {items.length > 0 && (
        <div className="table-frame">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Event</th>
                <th scope="col">Subject</th>
                <th scope="col">Channel</th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {items.map(
                ({
                  at,
                  channelKind,
                  channelName,
                  detail,
                  emailFallback,
                  eventKind,
                  id,
                  outcome: came,
                  severity,
                  subjectName,
                }) => (
                  <tr key={id}>
                    <td title={fullTime(at)}>{ago(at)}</td>
                    <td>
                      {eventName(eventKind)} <span className="hint">{severity}</span>
                    </td>
                    <th scope="row">{subjectName}</th>
                    <td>
                      {channelName ?? channelKind}
                      {emailFallback && <span className="hint"> by mail, as a channel failed</span>}
                    </td>
                    <td>
                      <span className="badge" data-tone={TONES[came]}>
                        {came}
                      </span>{' '}
                      {detail}
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
      <More of={history}>Older</More>
    </section>
  )
}
