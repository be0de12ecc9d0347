export { DOCS } from './docs.ts'
export { pageRoutes } from './pages.ts'
