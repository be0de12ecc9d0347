export { knownShareLinks, openShareLink, type Shared } from './open.ts'
export { shareLinkRoutes } from './routes.ts'
