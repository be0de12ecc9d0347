export * from './metrics.ts'
export * from './registry.ts'
export { startMetrics } from './startMetrics.ts'
export * from './sumOfMetrics.ts'
