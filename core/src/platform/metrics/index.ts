export * from './metrics.ts'
export { startMetrics } from './startMetrics.ts'
export * from './sumOfMetrics.ts'
