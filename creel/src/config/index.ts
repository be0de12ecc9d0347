export { type Config, ConfigError, configsOfCells, type Decoded, decodeConfig } from './config.ts'
export { mailOptions } from './mail.ts'
export { maskedConfig } from './masked.ts'
export { VARIABLE_NAMES } from './variables.ts'
