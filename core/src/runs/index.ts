export { runQueues } from './queues.ts'
export * from './runs.ts'
