export * from './plans.ts'
