export { detailOf } from '../api/issues.ts'
export { createOperatorCaller, operatorRouter } from './router.ts'
