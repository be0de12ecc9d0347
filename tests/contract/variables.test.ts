import { describe, expect, test } from 'bun:test'
import { VARIABLE_NAMES } from '../../creel/src/config/index.ts'
import { textOf } from '../docs/markdown.ts'
import { runCreel } from '../support/process.ts'

describe('every environment variable', () => {
  test('has a row in docs/operations.md', () => {
    const firstCells = textOf('docs/operations.md')
      .split('\n')
      .flatMap((line) => (line.startsWith('| `') ? [line.split('|')[1] ?? ''] : []))
    expect(VARIABLE_NAMES.filter((name) => !firstCells.some((cell) => cell.includes(`\`${name}\``)))).toEqual(
      [],
    )
  })

  test('stands in the help of the configuration', async () => {
    const words = new Set((await runCreel(['help', 'config'])).stdout.split(/[\s,]+/))
    expect(VARIABLE_NAMES.filter((name) => !words.has(name))).toEqual([])
  })
})
