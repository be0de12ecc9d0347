export { knownShareLinks, openShareLink, type Shared } from './queries.ts'
export { shareLinkRoutes } from './routes.ts'
