export { createBoss, createQueues } from './boss.ts'
export { createEnqueue } from './enqueue.ts'
export { checkQueue, type QueueLoad, readQueueLoad } from './health.ts'
export { type RunningWorkers, startWorkers } from './workers.ts'
