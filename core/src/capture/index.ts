export { type CaptureRow, captureRow } from './captureRow.ts'
export type { CaptureSettings } from './captureSettings.ts'
export { type CaptureResult, type Captures, createCaptures } from './captures.ts'
export type { EvaluatedCapture } from './evaluateCapture.ts'
