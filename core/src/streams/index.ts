export { type OpenStream, openStream, watchCaller } from './openStream.ts'
export { holdUnread, UNREAD_BYTES_MAX, type UnreadHolder } from './unread.ts'
