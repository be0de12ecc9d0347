export * from './authenticate.ts'
export { LINK_MINUTES, SESSION_DAYS } from './queries.ts'
export { type Credential, endSessionOfToken, startSession } from './start.ts'
