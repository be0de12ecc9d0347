export { openApi } from './description.ts'
export { inputProperties } from './operation.ts'
