export { createBoss, createQueues } from './boss.ts'
export { createEnqueue } from './enqueue.ts'
export { startWorkers, WORKERS } from './workers.ts'
