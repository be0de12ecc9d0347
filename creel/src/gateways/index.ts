export { type FirstProcess, startProcesses } from './firstProcess.ts'
export { connectionsEach, gatewayCount } from './gatewayCount.ts'
export { joinFirstProcess, type Membership } from './member.ts'
