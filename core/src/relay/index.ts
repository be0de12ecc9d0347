export { createRelayEndpoint } from './create.ts'
export { hasOtherWorkspaces } from './statements.ts'
export {
  RELAY_AUDIT_DAYS,
  RELAY_CREATIONS_PER_ADDRESS,
  RELAY_ENDPOINTS_MAX,
  RELAY_IDLE_MS,
  RELAY_LIFE_MS,
  RELAY_LIMITS,
  RELAY_LIVE_PER_ADDRESS,
  RELAY_LIVE_PER_NETWORK,
  RELAY_RETRY_MS,
  relayPlans,
  sweepRelay,
} from './sweep.ts'
