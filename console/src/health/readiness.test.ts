import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readinessOf, sectionOf, serviceTroubles, withKeys } from './readiness.ts'

const RUNBOOK = readFileSync(join(import.meta.dir, '../../../docs/runbook.md'), 'utf8')

test('what does not begin with ok is a trouble, with its section of the runbook', () => {
  const readiness = readinessOf({
    status: 'ready',
    checks: { database: 'ok', queue: 'unavailable' },
    replica: 'ok: 12 bytes behind',
    jobs: 'late: due for 180 s',
    'cell eu': 'out of reach',
    dispatch: 'off: deliveries wait',
  })
  expect(serviceTroubles(readiness).map(({ title, detail, runbook }) => [title, detail, runbook])).toEqual([
    ['Service: queue', 'unavailable', 'docs/runbook.md#creelcapturesunavailable'],
    ['Service: jobs', 'late: due for 180 s', 'docs/runbook.md#creelqueuelags'],
    ['Service: cell eu', 'out of reach', 'docs/runbook.md#creelcelloutofreach'],
    ['Service: dispatch', 'off: deliveries wait', null],
  ])
  expect(serviceTroubles(readinessOf('nothing'))).toEqual([])
})

test('every trouble has a key of its own, which others do not change', () => {
  const about = { detail: '', since: null, actionId: null, runbook: null }
  const alarm = { ...about, code: 'watchdog.alarmed', title: 'Nightly is late', endpointId: 'one' }
  const other = { ...about, code: 'service.jobs', title: 'Service: jobs', endpointId: null }
  const keysOf = (...troubles: Parameters<typeof withKeys>[0]) => withKeys(troubles).map(({ key }) => key)
  const keys = keysOf(alarm, alarm, { ...alarm, endpointId: 'two' })
  expect(new Set(keys).size).toBe(3)
  expect(keysOf(other, alarm, alarm).slice(1)).toEqual(keys.slice(0, 2))
})

test('every section that a trouble names is in the runbook', () => {
  const names = [
    'cell x',
    'cells',
    'database',
    'gateways',
    'jobs',
    'processes',
    'queue',
    'replica',
    'storage',
  ]
  const notes = Object.fromEntries(names.map((name) => [name, 'bad']))
  for (const { runbook } of serviceTroubles(readinessOf(notes)))
    expect(sectionOf(RUNBOOK, runbook?.split('#')[1] ?? '')).not.toBe('')
})

test('a section is plain text, each paragraph and item on a line', () => {
  const page =
    '# Runbook\n\n## CreelDown\n\nIt does\nnot answer.\n\n- Look: `/healthz`.\n- Do: see [jobs](x.md#y),\n  too.\n\n## Other\n\nNo.\n'
  expect(sectionOf(page, 'creeldown')).toBe('It does not answer.\n- Look: /healthz.\n- Do: see jobs, too.')
  expect(sectionOf(page, 'nothing')).toBe('')
})
