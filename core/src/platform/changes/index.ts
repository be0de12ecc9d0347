export * from './listen.ts'
