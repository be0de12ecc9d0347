export { SEALING } from './jobs.ts'
export { sealEarlier, sealStored } from './sealStored.ts'
export { sealingRoutes } from './shred.ts'
