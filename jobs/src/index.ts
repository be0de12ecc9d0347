export { createBoss, createQueues } from './boss.ts'
export { createEnqueue } from './enqueue.ts'
export { type RunningWorkers, startWorkers, WORKERS } from './workers.ts'
