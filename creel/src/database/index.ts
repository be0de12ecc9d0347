export * from './connect.ts'
