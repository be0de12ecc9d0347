export { creelSignature, SIGNATURE_HEADER } from './creelSignature.ts'
