import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readinessOf, sectionOf, serviceTroubles } from './readiness.ts'

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
