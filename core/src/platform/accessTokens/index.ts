export * from './accessTokens.ts'
