export { deleteExpiredShareLinks, knownShareLinks, openShareLink, type SharedLink } from './queries.ts'
export { shareLinkRoutes } from './routes.ts'
