export * from './authenticate.ts'
export { deleteEndedSessions, SESSION_DAYS } from './queries.ts'
export { type Credential, endSessionOfToken, startSession } from './start.ts'
