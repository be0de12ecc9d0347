export { leavesCredentialsBehind } from './auth.ts'
export { dropAction, writeAction } from './change.ts'
export { actionWarnings } from './check.ts'
export { checkCertificates } from './checkCertificates.ts'
export { addAction, hostOf } from './create.ts'
export { CERTIFICATE_CHECK, SEALED_ACTIONS } from './declarations.ts'
export * from './dispatchActions.ts'
export { pauseGone } from './pause.ts'
export {
  type ActionRow,
  applyActionLimits,
  findAction,
  listActions,
  lockActions,
  updateAction,
} from './queries.ts'
export { SIGNING_SECRET } from './schema.ts'
export { signingColumns, signingIssues } from './signing.ts'
