export {
  type Connected,
  type ConnectOptions,
  connectAsGuest,
  connectAsOwner,
  connectBesideOwner,
} from './connect.ts'
export { requireSchema } from './schema.ts'
