export * from './schemes.ts'
