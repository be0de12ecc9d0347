export { type Candidate, lookUp, type PagedSearch } from './lookup.ts'
export { makeSearchPages } from './make.ts'
export { forgetPaged } from './store.ts'
