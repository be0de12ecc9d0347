import { expect, test } from 'bun:test'
import { servingEnvironment } from './servingEnvironment.ts'

const LATER = {
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '400000',
  BUN_JSC_thresholdForFTLOptimizeSoon: '4000',
}
const KEPT = { MIMALLOC_PURGE_HOLES: '0', MIMALLOC_PURGE_DELAY: '1000' }

test('a process that serves compiles later and keeps memory', () => {
  expect(servingEnvironment({ PATH: '/bin' })).toEqual({ PATH: '/bin', ...LATER, ...KEPT })
})

test('what the operator has decided stays', () => {
  expect(servingEnvironment({ MIMALLOC_PURGE_DELAY: '10' })).toEqual({ MIMALLOC_PURGE_DELAY: '10', ...LATER })
  expect(servingEnvironment({ BUN_JSC_useJIT: '0' })).toEqual({ BUN_JSC_useJIT: '0', ...KEPT })
})

test('an environment in which all is decided is the same object, so that a process replaces itself once', () => {
  const served = servingEnvironment({})
  expect(servingEnvironment(served)).toBe(served)
})
