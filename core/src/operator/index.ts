export { detailOf } from '../zodIssues.ts'
export { createOperatorCaller, operatorRouter } from './router.ts'
