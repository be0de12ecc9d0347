export { BIN_DAYS, purgesAt } from './rules.ts'
