export {
  type Connected,
  type ConnectOptions,
  connectAsGuest,
  connectAsOwner,
  connectBesideOwner,
} from './connect.ts'
