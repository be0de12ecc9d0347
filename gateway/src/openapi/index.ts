export { openApi } from './description.ts'
