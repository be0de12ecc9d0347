export { findContactIds, listContacts } from './queries.ts'
