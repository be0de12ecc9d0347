export { type Candidate, lookUp, type Stretch } from './lookup.ts'
export { makeSearchPages } from './make.ts'
export { forgetPaged } from './store.ts'
