export { CALLBACK_SENDS } from './callbackSends.ts'
export {
  forgetAgentEvents,
  nextAgentEvents,
  SEALED_SUBSCRIPTIONS,
  SUBSCRIPTION_SWEEP,
  sealAgentEvents,
} from './declarations.ts'
export { sweepSubscriptions } from './end.ts'
export { startEventReader } from './eventReader.ts'
