export { changedSettings, checkSettings, NO_VERIFICATION, type VerificationInput } from './checkSettings.ts'
export { evaluate } from './evaluate.ts'
export * from './eventId.ts'
export { Evidence } from './evidence.ts'
export { type HandshakeAnswer, handshakeAnswer } from './handshakes.ts'
export { labelOf, labelReads } from './label.ts'
export { type PreparedVerification, prepareVerification } from './prepare.ts'
export { laidOutSignature, resigned, signatureOver, timestampText } from './resign.ts'
export {
  MANUAL_DEFAULTS,
  type ManualEncoding,
  type ManualScheme,
  manualSchemeRow,
  SIGNATURE_ALGORITHMS,
  SIGNATURE_ENCODINGS,
  type SignatureAlgorithm,
  type VerificationFacts,
  type VerificationSettings,
  type VerificationView,
  verificationView,
} from './settings.ts'
