export { SUBSCRIPTION_SWEEP } from './jobs.ts'
export { SEALED_SUBSCRIPTIONS } from './reseal.ts'
export { type SubscriptionSender, startSubscriptionSender } from './sender.ts'
export { sweepSubscriptions } from './sweep.ts'
