import { Gauge } from 'prom-client'
import { counterBy, registers } from './registry.ts'

/** Version of the program, as labels; always 1. */
export const buildInfo = new Gauge({
  name: 'creel_build_info',
  help: 'The version of creel and of Bun',
  labelNames: ['version', 'bun'] as const,
  // Always 1, however many processes a program has.
  aggregator: 'first',
  registers,
})

/** Lists and searches, by server; both stay 0 without a replica. */
export const replicatedReads = counterBy('server', ['replica', 'primary'], {
  name: 'creel_replicated_reads_total',
  help: 'Lists and searches where CREEL_DATABASE_READ_URL is set, by where they ran',
})

/** Lag of the replica in bytes. Read at each scrape. */
export const replicaLagBytes = new Gauge({
  name: 'creel_replica_lag_bytes',
  help: 'Write-ahead log that the replica has not replayed; -1 when it is out of reach, 0 without one',
  registers,
})

/** Lag of the replica in seconds. Read at each scrape. */
export const replicaLagSeconds = new Gauge({
  name: 'creel_replica_lag_seconds',
  help: 'Age of what the replica has replayed last, while there is more; -1 when it is out of reach, 0 without one',
  registers,
})

/** Backlog of a queue: jobs that are due and not taken by a worker. Read at each scrape. */
export const queueDepth = new Gauge({
  name: 'creel_queue_depth',
  help: 'Jobs that are due and not yet taken; of deliveries, the attempts in them',
  labelNames: ['queue'] as const,
  registers,
})

/** Age of the oldest due job of a queue. */
export const queueLagSeconds = new Gauge({
  name: 'creel_queue_lag_seconds',
  help: 'How long the oldest due job has waited',
  labelNames: ['queue'] as const,
  registers,
})
