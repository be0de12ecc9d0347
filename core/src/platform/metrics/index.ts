export * from './metrics.ts'
