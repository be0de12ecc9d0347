export {
  authenticateSession,
  knownLinks,
  knownSessions,
  knownTokens,
  newToken,
  recheckSession,
  tokenFingerprint,
} from './authenticate.ts'
export { LINK_MINUTES, SESSION_DAYS } from './queries.ts'
export { type Credential, endSessionOfToken, startSession } from './start.ts'
