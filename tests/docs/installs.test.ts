import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import published from '../../scripts/release/published.json' with { type: 'json' }
import { codeSpansOf, documents, fencesOf, ROOT, textOf } from './markdown.ts'

/**
 * A page that tells to install a name which this repository has not published hands its readers to the account that
 * registers the name. `published.json` lists the names that it has published: empty until the first release.
 */

const PUBLISHED: readonly string[] = published

/** Packages of others that the documents install. Each was looked up in its registry. */
const OTHERS = ['bun', 'vitest', 'wait-on', '@openapitools/openapi-generator-cli']

/** The only part of a page that may name what a release will publish. */
const AFTER_RELEASE = { document: 'docs/install.md', heading: '## After the first release' }

/** Texts outside of the documents that people read: the program's, the npm package's, the relay's page. */
const SOURCES = [
  'action.yml',
  'deploy/**/*.{cjs,sh,yaml}',
  '{clients,console,core,creel,gateway,jobs}/**/src/**/*.{ts,tsx}',
]
const sources = SOURCES.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: ROOT })])
  .filter((path) => !/node_modules|\.test\.ts/.test(path))
  .sort()
const pages = [...documents, 'clients/typescript/README.md']

describe('no page tells to install a name that is not published', () => {
  test.each(pages)('%s', (page) => {
    const isKnown = (name: string) => OTHERS.includes(name) || PUBLISHED.includes(name)
    const text = beforeRelease(page)
    const commands = [...fencesOf(text).map(({ code }) => code), ...codeSpansOf(text)]
    expect(commands.flatMap(installedBy).filter((name) => !isKnown(name))).toEqual([])
  })

  test('nor does a text of the program', () => {
    expect(sources).toContain('gateway/src/relayRoutes.ts')
    const ours = sources.flatMap((path) =>
      installedBy(textOf(path))
        .filter((name) => /^(?:@?creel\b|ghcr\.io)/.test(name) && !PUBLISHED.includes(name))
        .map((name) => `${path}: ${name}`),
    )
    // The launcher of the npm package, as npx finds it in a project that has the package.
    expect(ours).toEqual(['creel/src/executable.ts: creel'])
  })

  test.each([
    ['npx creel', ['creel']],
    ['run `npx --yes creel@latest listen`', ['creel']],
    ['npm install -g creel', ['creel']],
    ['npm install --save-dev creel-client vitest   # a comment', ['creel-client', 'vitest']],
    ['pnpm add @creel/linux-x64', ['@creel/linux-x64']],
    ['bunx creel', ['creel']],
    ['brew install creel', ['creel']],
    ['docker run -p 4400:4400 ghcr.io/someone/creel:latest', ['ghcr.io/someone/creel']],
    ['npm install ./creel-client-0.2.0.tgz && npm ci', []],
    ['npx -y bun@1.4.5 run creel listen --to 3000', ['bun']],
    ['npm passes a signal to its shell; npm install', []],
  ])('%s installs %p', (text, names) => {
    expect(installedBy(text)).toEqual(names)
  })

  test('the list names what exists in a registry, and README says that it is empty', () => {
    expect(PUBLISHED.filter((name) => !/^[@\w][\w./-]*$/.test(name))).toEqual([])
    expect(textOf('README.md').includes('Nothing is published yet')).toBe(PUBLISHED.length === 0)
  })
})

/** A page without the part that speaks of the time after a release. */
function beforeRelease(page: string): string {
  const text = textOf(page)
  if (page !== AFTER_RELEASE.document) return text
  const [before = '', ...after] = text.split(`${AFTER_RELEASE.heading}\n`)
  expect(after).toHaveLength(1)
  const next = after[0]?.search(/^## /m) ?? -1
  return next === -1 ? before : before + (after[0] ?? '').slice(next)
}

/** Names that commands of a text fetch from a registry of packages or images; files and folders are no names. */
function installedBy(text: string): string[] {
  const ran = [...text.matchAll(/\b(?:npx|bunx|npm exec|(?:pnpm|yarn) dlx)((?: +[^\s`'"<]+)+)/g)].map(
    ([, words = '']) => wordsOf(words).slice(0, 1),
  )
  const added = [
    ...text.matchAll(/\b(?:npm (?:install|i|add)|(?:pnpm|yarn|bun) add|brew install)((?: +[^\s`'"<]+)+)/g),
  ].map(([, words = '']) => wordsOf(words))
  const images = [...text.matchAll(/\b(?:ghcr|docker)\.io\/[\w./<>-]+/g)].map(([image]) => [image])
  return [...ran, ...added, ...images]
    .flat()
    .filter((name) => !/^[./]|\.(?:tgz|rb)$/.test(name))
    .map((name) => name.replace(/(?<=.)@.*$/, ''))
}

/** The words of a command up to its end, without options. */
function wordsOf(text: string): string[] {
  const words = text.trim().split(/ +/)
  const end = words.findIndex((word) => /^[#|&;]/.test(word))
  return (end === -1 ? words : words.slice(0, end)).filter((word) => !word.startsWith('-'))
}
