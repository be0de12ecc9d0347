export { storeRuleRoutes } from './routes.ts'
export { storingWarnings } from './warnings.ts'
