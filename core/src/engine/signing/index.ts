export { creelSignature, SIGNATURE_HEADER } from './creelSignature.ts'
export {
  SIGNING_SCHEMES,
  type Signing,
  type SigningScheme,
  secretProblem,
  signatureFields,
  signingSchemeOf,
} from './schemes.ts'
