export { leavesCredentialsBehind } from './auth.ts'
export { dropAction, writeAction } from './change.ts'
export { checkCertificates } from './checkCertificates.ts'
export { addAction, hostOf } from './create.ts'
export {
  type DispatchAction,
  type DispatchPlan,
  isOn,
  type LoadedAction,
  loadDispatchActions,
  planDispatch,
  planDispatchInSteps,
} from './dispatchActions.ts'
export { CERTIFICATE_CHECK } from './jobs.ts'
export { pauseGone } from './pauseGone.ts'
export { applyActionLimits } from './planLimit.ts'
export { type ActionRow, findAction, listActions, lockActions } from './queries.ts'
export { SEALED_ACTIONS } from './reseal.ts'
export { SIGNING_SECRET } from './schema.ts'
export { signingColumns, signingIssues } from './signing.ts'
