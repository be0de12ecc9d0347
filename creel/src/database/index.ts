export {
  type Connected,
  type ConnectOptions,
  connectAsGuest,
  connectAsOwner,
  connectBesideOwner,
  requireSchema,
} from './connect.ts'
