export { DOCS } from './docs.ts'
