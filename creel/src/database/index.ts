export { type Connected, type ConnectOptions, connectAsGuest, connectAsOwner } from './connect.ts'
