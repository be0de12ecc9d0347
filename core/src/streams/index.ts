export { type OpenStream, openStream, watchCaller } from './openStream.ts'
export { holdUnread, type UnreadHolder } from './unread.ts'
