export { answerRoutes } from './routes.ts'
