export { type Slot, takeSlot } from './slots.ts'
