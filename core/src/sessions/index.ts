export { authenticateSession, recheckSession, SESSION_CALLS_PER_MINUTE } from './authenticate.ts'
export { knownSessions } from './knownSessions.ts'
export { LINK_MINUTES, SESSION_DAYS } from './lifetimes.ts'
export { type Credential, endSessionOfToken, startSession } from './start.ts'
