export * from './metrics.ts'
export * from './registry.ts'
export * from './sumOfMetrics.ts'
