import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

export const ROOT = join(import.meta.dir, '../..')

/** Patterns of all documents. They are a list, since Bun's Glob does not match braces that contain a slash. */
const PLACES = ['*.md', 'docs/**/*.md', 'deploy/**/*.md', 'bench/*.md']

/** Paths of all documents, from the root of the repository. */
export const documents: readonly string[] = PLACES.flatMap((place) => [
  ...new Glob(place).scanSync({ cwd: ROOT }),
]).sort()

export const textOf = (document: string): string => readFileSync(join(ROOT, document), 'utf8')

/**
 * A fenced block. Its info string is a language and, for commands, at most one remark:
 *
 * - none: `documents.test.ts` runs it, after those before it on the page;
 * - `run-by: <test file>`: that test takes it from the page and runs it;
 * - `not-run: <why>`: no suite can.
 */
export interface Fence {
  readonly language: string
  readonly remark: string
  readonly code: string
}

/** The fences of a text, in order. */
export function fencesOf(text: string): Fence[] {
  return [...text.matchAll(/^( *)```([^\n]*)\n(.*?)^\1```$/gms)].map(([, , info = '', code = '']) => {
    const [language = '', ...remark] = info.split(' ')
    return { language, remark: remark.join(' '), code }
  })
}

/** Languages of commands. A block in one of them is run, or has a remark why not. */
export const SHELLS: readonly string[] = ['sh', 'bash']

/** The commands of a document that a test runs by itself, in order. */
export function fencesRunBy(test: string, document: string): string[] {
  return fencesOf(textOf(document))
    .filter(({ language, remark }) => SHELLS.includes(language) && remark === `run-by: ${test}`)
    .map(({ code }) => code)
}

/** Texts in backticks within the prose. */
export function codeSpansOf(text: string): string[] {
  const prose = text.replaceAll(/^( *)```[^\n]*\n.*?^\1```$/gms, '')
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replaceAll(/\s+/g, ' '))
}
