export { WARM_UP_ID, warmUpCaptures } from './warmUpCaptures.ts'
