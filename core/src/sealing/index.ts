export { SEALING, sealEarlier, sealStored } from './sealStored.ts'
export { sealingRoutes } from './shred.ts'
