export { listContacts } from './queries.ts'
