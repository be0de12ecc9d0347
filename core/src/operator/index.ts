export { createOperatorCaller, operatorRouter } from './router.ts'
