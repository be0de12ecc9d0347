export { watchCaller } from './callerValidity.ts'
export { type OpenStream, openStream } from './openStream.ts'
export { holdUnread, UNREAD_BYTES_MAX, type UnreadHolder } from './unread.ts'
