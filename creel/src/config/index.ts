export {
  type Config,
  ConfigError,
  configsOfCells,
  type Decoded,
  decodeConfig,
  mailOptions,
} from './config.ts'

export { maskedConfig } from './masked.ts'
export { VARIABLE_NAMES } from './variables.ts'
