import { Counter } from 'prom-client'
import { registers } from '../../platform/metrics/index.ts'
import { CHANNEL_KIND_NAMES } from '../kinds/index.ts'

/**
 * Attempts to send an alert. `outcome`: `delivered`, `failed`, `muted`, `suppressed`; `channel` is the channel's kind.
 */
export const alertSendsTotal = new Counter({
  name: 'creel_alert_sends_total',
  help: 'Attempts to send an alert, by outcome and kind of channel',
  labelNames: ['outcome', 'channel'] as const,
  registers,
})
for (const channel of ['email', ...CHANNEL_KIND_NAMES]) {
  for (const outcome of ['delivered', 'failed', 'muted', 'suppressed'])
    alertSendsTotal.inc({ outcome, channel }, 0)
}
