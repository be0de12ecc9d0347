export {
  creelSignature,
  SIGNATURE_HEADER,
  SIGNING_SCHEMES,
  type Signing,
  type SigningScheme,
  secretProblem,
  signatureFields,
  signingSchemeOf,
} from './schemes.ts'
