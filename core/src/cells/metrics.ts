import { Gauge } from 'prom-client'
import { registers } from '../platform/metrics/index.ts'

/** Whether this process reaches a cell; no series in an installation without cells. */
export const cellUp = new Gauge({
  name: 'creel_cell_up',
  help: 'Whether a cell is reached: 1, or 0',
  labelNames: ['cell'] as const,
  aggregator: 'min',
  registers,
})
