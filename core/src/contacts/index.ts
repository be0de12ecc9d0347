export { findContactIds, listContacts } from './change.ts'
