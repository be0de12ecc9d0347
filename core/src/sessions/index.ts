export { authenticateSession, recheckSession } from './authenticate.ts'
export { knownLinks, knownSessions } from './knownSessions.ts'
export { LINK_MINUTES, SESSION_DAYS } from './lifetimes.ts'
export { type Credential, endSessionOfToken, startSession } from './start.ts'
