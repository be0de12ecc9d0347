export * from './config.ts'

export { maskedConfig } from './masked.ts'
export { VARIABLE_NAMES } from './variables.ts'
