export * from './metrics.ts'

export * from './sumOfMetrics.ts'
