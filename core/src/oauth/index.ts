export {
  type AuthorizationRequest,
  codeRedirect,
  errorRedirect,
  readAuthorization,
} from './authorization.ts'
export { type ClientDocuments, createClientDocuments, isLoopback } from './clientDocuments.ts'
export { recordConsent, requireConsenter } from './consent.ts'
export { issueToken } from './exchange.ts'
export { knownGrants, storedGrants } from './knownGrants.ts'
export { type ChoosableEndpoint, listChoices } from './queries.ts'
export { revokeToken } from './tokens.ts'
export {
  type AgentScope,
  type OAuthError,
  onlyValue,
  REFRESH_DAYS,
  resourceMetadata,
  serverMetadata,
} from './words.ts'
