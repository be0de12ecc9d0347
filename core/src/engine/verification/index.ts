export { changedSettings, checkSettings, NO_VERIFICATION, shownSecretIssues } from './checkSettings.ts'
export { evaluate } from './evaluate.ts'
export * from './eventId.ts'
export { Evidence } from './evidence.ts'
export { type HandshakeAnswer, handshakeAnswer } from './handshakes.ts'
export { labelOf, labelReads } from './label.ts'
export { type PreparedVerification, prepareVerification } from './prepare.ts'
export { laidOutSignature, resigned, signatureOver, timestampNow, wrongSecret } from './resign.ts'
export {
  MANUAL_DEFAULTS,
  type ManualScheme,
  manualSchemeRow,
  SIGNATURE_ALGORITHMS,
  SIGNATURE_ENCODINGS,
  type VerificationFacts,
  type VerificationSettings,
  verificationView,
} from './settings.ts'
