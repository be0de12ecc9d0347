export * from './config.ts'

export { VARIABLE_NAMES } from './variables.ts'
