export { insertDeliveries, type NewDelivery } from './enqueue.ts'
export {
  ATTEMPT_STATES,
  type AttemptState,
  REQUEST_STATES,
  type RequestState,
  TRIGGERS,
  type Trigger,
} from './states.ts'
