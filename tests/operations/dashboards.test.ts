import { describe, expect, test } from 'bun:test'
import { registry } from '@creel/core/platform/metrics'
// Every metric is defined where it is counted.
import '@creel/program'
import { z } from 'zod'
import { fencesRunBy, ROOT, textOf } from '../docs/markdown.ts'

const DEPLOY = new URL('../../deploy/', import.meta.url)

/** Suffixes of the series of a metric; a histogram has all of them. */
const SUFFIXES = ['', '_bucket', '_sum', '_count']

/** Names in a PromQL text that look like our metrics and do not exist. */
async function unknownMetrics(text: string): Promise<readonly string[]> {
  const metrics = await registry.getMetricsAsJSON()
  const known = new Set(metrics.flatMap(({ name }) => SUFFIXES.map((suffix) => name + suffix)))
  return [...new Set(text.match(/\bcreel_[a-z_]+/g))].filter((name) => !known.has(name))
}

describe('deploy/grafana/creel.json', () => {
  const Dashboard = z.looseObject({
    panels: z.array(
      z.looseObject({
        id: z.int(),
        type: z.string(),
        title: z.string(),
        gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
        targets: z.array(z.looseObject({ expr: z.string() })).optional(),
      }),
    ),
  })

  test('asks only for metrics that exist, and shows all of ours', async () => {
    const text = await Bun.file(new URL('grafana/creel.json', DEPLOY)).text()
    const { panels } = Dashboard.parse(JSON.parse(text))
    const asked = panels.flatMap(({ targets }) => targets ?? []).map(({ expr }) => expr)
    expect(await unknownMetrics(asked.join('\n'))).toEqual([])
    const shown = asked.join('\n')
    const names = (await registry.getMetricsAsJSON())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('creel_'))
    expect(names.filter((name) => !shown.includes(name))).toEqual([])
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })
})

test.skipIf(Bun.which('promtool') === null)(
  'metrics are as Prometheus wants them, says promtool',
  async () => {
    const checked = Bun.spawnSync(['promtool', 'check', 'metrics'], {
      stdin: Buffer.from(await registry.metrics()),
    })
    expect(`${checked.stdout}${checked.stderr}`).toBe('')
  },
)

describe('deploy/prometheus', () => {
  const Rules = z.object({
    groups: z.array(
      z.looseObject({
        rules: z.array(
          z.looseObject({ alert: z.string(), annotations: z.looseObject({ runbook: z.string() }) }),
        ),
      }),
    ),
  })

  test('its rules ask only for metrics that exist', async () => {
    const text = await Bun.file(new URL('prometheus/alerts.yml', DEPLOY)).text()
    expect(await unknownMetrics(text.replaceAll(/^\s*- name: .*$/gm, ''))).toEqual([])
  })

  test('every rule names its section of the runbook, which has no other', async () => {
    const text = await Bun.file(new URL('prometheus/alerts.yml', DEPLOY)).text()
    const { groups } = Rules.parse(Bun.YAML.parse(text))
    const rules = groups.flatMap((group) => group.rules)
    const sections = [...textOf('docs/runbook.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name ?? '')
    expect(sections).toEqual(rules.map(({ alert }) => alert))
    expect(rules.map(({ annotations }) => annotations.runbook)).toEqual(
      sections.map((name) => `docs/runbook.md#${name.toLowerCase()}`),
    )
  })

  test.skipIf(Bun.which('promtool') === null)('is sound, and fires when it should, says promtool', () => {
    const [commands = ''] = fencesRunBy('tests/operations/dashboards.test.ts', 'deploy/README.md')
    const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-ec', commands], { cwd: ROOT })
    expect(exitCode === 0 ? 'fine' : `${stdout}${stderr}`).toBe('fine')
  })
})
