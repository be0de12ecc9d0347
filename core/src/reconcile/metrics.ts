import { counterBy } from '../platform/metrics/index.ts'

export const reconciliations = counterBy('state', ['done', 'failed'], {
  name: 'creel_reconciliations_total',
  help: 'Reconciliations that ended, by how',
})

/**
 * Events in reconciliations that ended. `result`: `missing`, and of these `redelivered`, `captured`, `refused` and
 * `outstanding`.
 */
export const reconciledEvents = counterBy(
  'result',
  ['missing', 'redelivered', 'captured', 'refused', 'outstanding'],
  {
    name: 'creel_reconciled_events_total',
    help: 'Events that reconciliations found missing, and what became of them',
  },
)
