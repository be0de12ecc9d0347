export { relayRoutes } from './relayRoutes.ts'
