import { Button } from '../parts/Button.tsx'
import { Menu, MenuItem } from '../parts/Menu.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Switch } from '../parts/Switch.tsx'
import { useCall } from '../parts/useCall.ts'
import { creel } from '../trpc.ts'
import { ago, duration, plural } from '../words/format.ts'
import { ChannelForm } from './ChannelForm.tsx'
import { CHANNELS, type Channel } from './channel.ts'

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
export function ChannelItem({ channel, isOpen, onToggle }: Props) {
  const {
    connected,
    consecutiveFailures,
    destination,
    enabled,
    health,
    id,
    kind,
    lastError,
    lastSuccessAt,
    mutedUntil,
    name,
  } = channel
  const change = useCall(
    (members: { enabled?: boolean; mutedUntil?: string }) =>
      creel.alertChannels.update.mutate({ id, ...members }),
    [CHANNELS],
  )
  const test = useCall(() => creel.alertChannels.test.mutate({ id }), [CHANNELS])
  const isMuted = mutedUntil !== null && Date.parse(mutedUntil) > Date.now()
  return (
    <div>
      <div className="item" data-open={isOpen}>
        <button type="button" className="item-name" aria-expanded={isOpen} onClick={onToggle}>
          {name}
        </button>
        <span className="badge">{kind}</span>
        <span className="badge" data-tone={TONES[health]}>
          {health}
        </span>
        {isMuted && <span className="badge">muted, ends {ago(mutedUntil)}</span>}
        <span className="item-what">
          {destination}{' '}
          {consecutiveFailures > 0 ? (
            <span className="bad">
              {plural(consecutiveFailures, 'failure')} in a row: {lastError}
            </span>
          ) : (
            lastSuccessAt !== null && `sent ${ago(lastSuccessAt)}`
          )}
        </span>
        <Button look="small" disabled={test.isPending || !connected} onClick={() => test.mutate()}>
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
          isOn={enabled}
          isDisabled={change.isPending}
          label={`${name} is switched on`}
          onChange={(on) => change.mutate({ enabled: on })}
        >
          {enabled ? 'on' : 'off'}
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
