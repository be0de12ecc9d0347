import { sealedTable } from '../platform/secrets/index.ts'

/** Secrets that the noun stores: values of erasures that have not ended. */
export const SEALED_ERASURES = sealedTable('erasures', ['value'])
