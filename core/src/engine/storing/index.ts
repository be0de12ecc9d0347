export { DROP_HEADERS_MAX, parseStoreRules } from './parse.ts'
export {
  type Derived,
  digestOf,
  failedClosed,
  hashWith,
  looksOfStoring,
  type Redaction,
  type StoredForm,
  type Storing,
  shownAddress,
  storedForm,
  storedFormInSteps,
} from './storing.ts'
export { takesOut, takesOutText } from './takesOut.ts'
