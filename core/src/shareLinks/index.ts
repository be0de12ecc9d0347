export {
  deleteExpiredShareLinks,
  deleteShareLinksOf,
  knownShareLinks,
  openShareLink,
  type SharedLink,
} from './queries.ts'
export { shareLinkRoutes } from './routes.ts'
