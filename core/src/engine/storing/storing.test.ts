import { expect, test } from 'bun:test'
import { processorTime } from '../../../../tests/support/processorTime.ts'
import { captured, runOn } from '../../../../tests/support/ruleRuns.ts'
import { ByHeaderName } from '../message/index.ts'
import { decodeStoreRule, type Rule } from '../rules/index.ts'
import { storedForm } from './index.ts'

/** 75,000 parameters, as many as a head of 150 KB holds. */
const LONG_QUERY = `z=1&${'a&'.repeat(75_000)}b=1`

function storeRule(steps: readonly unknown[], when?: unknown): Rule {
  const decoded = decodeStoreRule({ steps, ...(when === undefined ? {} : { when }) })
  if ('rule' in decoded) return decoded.rule
  throw new Error(JSON.stringify(decoded.issues))
}

test('a query that a step has changed is decoded once, however many conditions read it', () => {
  const leaves = (from: number, count: number) => ({
    any: Array.from({ length: count }, (_, n) => ({ path: `query.b${from + n}`, op: 'exists' })),
  })
  const when = { any: [leaves(0, 20), leaves(20, 20), leaves(40, 10)] }
  const rules = [
    storeRule([{ op: 'remove', paths: ['query.z'] }]),
    ...Array.from({ length: 9 }, () => storeRule([{ op: 'remove', paths: ['query.y'] }], when)),
  ]
  const used = processorTime()
  const { output } = runOn({ query: LONG_QUERY }, rules, { isForStoring: true })
  // It takes some 200 ms; to decode the query for each path of the conditions takes nine seconds.
  expect(used()).toBeLessThan(3000)
  expect(output?.queryString).toBe(LONG_QUERY.slice('z=1&'.length))
})

test('a long query is held against the time of a rule, however short the body is', () => {
  const steps = Array.from({ length: 50 }, (_, n) => ({ op: 'redact', paths: ['query.a'], with: `${n}` }))
  const request = captured({ query: LONG_QUERY, body: '{}' })
  const storing = { rules: [storeRule(steps)], dropped: new ByHeaderName<string>([]), hash: null }
  const { redaction } = storedForm(storing, request, () => ({ label: null, eventId: null }))
  expect(redaction?.fault).toMatch(/^rule 1 faulted at step \d+: too_slow$/)
})
