import { Gauge } from 'prom-client'
import { registers } from '../platform/metrics/index.ts'

/** Streams that are open now. */
export const streamsOpen = new Gauge({
  name: 'creel_streams_open',
  help: 'Streams of events that are open in this process',
  registers,
})
