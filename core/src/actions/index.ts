export { loadDispatchActions } from './dispatchActions.ts'
export { type DispatchAction, type DispatchPlan, isOn, planDispatch } from './planDispatch.ts'
export { applyActionLimits } from './planLimit.ts'
export { type ActionRow, lockActions } from './queries.ts'
