export { storingWarnings } from './preview.ts'
export { storeRuleRoutes } from './routes.ts'
