export { Recorder, type Recording } from './recorder.ts'
export {
  type Admission,
  dividedLimits,
  type HeldSlot,
  SLOT_LIMITS,
  type SlotLane,
  type SlotLimits,
  Slots,
} from './slots.ts'
