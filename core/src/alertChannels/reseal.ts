import { sealedTable } from '../platform/secrets/index.ts'

/** Secrets that the noun stores. */
export const SEALED_CHANNELS = sealedTable('alertChannels', ['secret'])
