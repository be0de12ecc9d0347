import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProgram } from '@creel/program'
import packageJson from '../../package.json' with { type: 'json' }
import description from '../contract/snapshots/openapi.v1.json' with { type: 'json' }
import { codeSpansOf, documents, fencesOf, ROOT, SHELLS, textOf } from './markdown.ts'

const program = await createProgram({ runtime: undefined })

/** Languages of fences without commands. A fence in any other language fails, so that no command is missed. */
const DATA: readonly string[] = ['mermaid', 'json', 'http', 'js', 'ts', 'python', 'yaml', 'text']

/** A command line. */
const COMMAND_LINE =
  /^\s*(?:[$>#] )?(?:\w+=\S* )*(?:\.\/dist\/)?(?:curl|creel|bunx?|npx|docker|systemctl|psql|pg_\w+|promtool|nginx|apt(?:-get)?|sudo) /

/** Lines that `creel serve` prints; they are quoted like commands. */
const PRINTED = /^creel (?:ready|endpoint|dispatch off|key …)/

test('the documents are found', () => {
  expect(documents).toContain('README.md')
  expect(documents).toContain('deploy/README.md')
  expect(documents).toContain('docs/operations.md')
})

describe('no command of a document escapes the suite', () => {
  test.each(documents)(
    '%s: every fence is data, or run, or says who runs it or why nobody can',
    (document) => {
      const astray = fencesOf(textOf(document)).flatMap(({ language, remark, code }) => {
        // SQL statements need a remark, too.
        if (SHELLS.includes(language) || language === 'sql')
          return isAccounted(remark, document) ? [] : [`${language} ${remark}`]
        if (!DATA.includes(language)) return [`a fence of language "${language}"`]
        return language === 'json' || language === 'http'
          ? code.split('\n').filter((line) => COMMAND_LINE.test(line))
          : []
      })
      expect(astray).toEqual([])
    },
  )

  test.each(documents)('%s: a command within a sentence exists, with its options', (document) => {
    expect(codeSpansOf(textOf(document)).filter((span) => !isSound(span))).toEqual([])
  })

  test.each(documents)('%s: so does one that is not run', (document) => {
    const lines = fencesOf(textOf(document))
      .filter(({ language, remark }) => SHELLS.includes(language) && remark !== '')
      .flatMap(({ code }) => code.split('\n'))
      .map((line) => line.replace(/\s+[#|].*$/, ''))
      // Programs of others are their own business.
      .filter((line) => /^(?:\.\/dist\/creel|creel|bun|npx -y bun@\S+)(?= )/.test(line))
    expect(lines.filter((line) => !isSound(line))).toEqual([])
  })
})

test('every script of package.json leads to a file or an installed program', () => {
  const lost = Object.values(packageJson.scripts)
    .flatMap((script) => script.split(' && '))
    // npm comes with Node, and a folder that the build makes is not there before it.
    .filter((command) => !/^(?:cd|npm) /.test(command))
    .filter((command) => {
      const [program = '', file = ''] = command.split(' ')
      return program === 'bun'
        ? !existsSync(join(ROOT, file))
        : !existsSync(join(ROOT, 'node_modules/.bin', program))
    })
  expect(lost).toEqual([])
})

test('the first block of README runs the service, then the tests, as .ci/run does', () => {
  const [first] = fencesOf(textOf('README.md'))
  const [start = '', suite = '', ...others] = first?.code.trimEnd().split('\n') ?? []
  const bun = `npx -y ${packageJson.packageManager}`
  expect([start, suite, ...others]).toEqual([`${bun} run start`, `${bun} run test`])
  expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toBe(`#!/bin/sh\nexec ${suite}\n`)
})

function isAccounted(remark: string, document: string): boolean {
  const [, by] = /^run-by: (tests\/\S+\.test\.ts)$/.exec(remark) ?? []
  if (by === undefined) return remark === '' || /^not-run: \S.*$/.test(remark)
  return existsSync(join(ROOT, by)) && textOf(by).includes(document)
}

/** False for an unknown command of ours, and for a command of another project, which must be in a fence. */
function isSound(span: string): boolean {
  const words = span
    .replace(/^(?:\w+=\S* )+/, '')
    .replace(new RegExp(`^npx -y ${packageJson.packageManager} `), 'bun ')
    .replace(/^npx (?=creel\b)/, '')
    .replace(/^\.\/dist\//, '')
    .split(' ')
  if (words[0] === 'creel') return PRINTED.test(span) || isCommand(words.slice(1))
  if (words[0] === 'bun') return isBunCommand(words.slice(1))
  return !COMMAND_LINE.test(span)
}

/** `creel` words: a chain of commands, then options of the last one. */
function isCommand(words: readonly string[]): boolean {
  let command = program
  // The service describes the options of an operation (tests/terminal/api.test.ts).
  if (words[0] === 'api') return isCommandOfApi(words.slice(1))
  if (words[0] === 'help') return words.slice(1).every((word) => word.startsWith('<') || isCommand([word]))
  for (const word of words) {
    if (word.startsWith('-')) {
      const name = word.split('=')[0]
      if (name !== '--help' && !command.options.some(({ long, short }) => long === name || short === name))
        return false
      continue
    }
    const next = command.commands.find((sub) => sub.name() === word)
    if (next !== undefined) command = next
    // Any other word is a value: of an option, or an argument of the command.
    else if (command.commands.length > 0 && word !== '…') return false
  }
  return true
}

function isCommandOfApi([operation = 'endpoints.list']: readonly string[]): boolean {
  const known = Object.values(description.paths).flatMap((methods) => Object.values(methods))
  return (
    operation.startsWith('<') || known.some(({ operationId }) => operationId.replace('_', '.') === operation)
  )
}

function isBunCommand([verb = '', name = '']: readonly string[]): boolean {
  if (verb === 'run') return name in packageJson.scripts
  if (verb === 'test') return existsSync(join(ROOT, name))
  return existsSync(join(ROOT, verb))
}
