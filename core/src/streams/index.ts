export { type OpenStream, openStream, waitForChanges, watchCaller } from './openStream.ts'
export { holdUnread, type UnreadHolder } from './unread.ts'
