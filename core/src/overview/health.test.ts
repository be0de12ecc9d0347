import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RUNBOOK } from './health.ts'

test('every section that a problem names is in the runbook', () => {
  const page = readFileSync(join(import.meta.dir, '../../../docs/runbook.md'), 'utf8')
  const sections = Array.from(page.matchAll(/^## (\w+)$/gm), ([, name = '']) => name.toLowerCase())
  for (const section of Object.values(RUNBOOK)) expect(sections).toContain(section)
})
