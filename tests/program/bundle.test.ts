import { expect, test } from 'bun:test'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundledProgram, compileBundle } from '../../scripts/bundle.ts'
import { temporaryFolder } from '../support/process.ts'

const PACKAGES = ['clients/terminal', 'clients/typescript', 'core', 'creel', 'gateway', 'jobs', 'migrations']

async function checkout(word: string): Promise<string> {
  const root = await temporaryFolder()
  for (const name of PACKAGES) await mkdir(join(root, name, 'src'), { recursive: true })
  await writeFile(join(root, 'bun.lock'), '{}')
  await writeFile(join(root, 'core/src/word.ts'), `export const word: string = '${word}'`)
  await writeFile(join(root, 'creel/src/program.ts'), "export { word } from '../../core/src/word.ts'")
  return root
}

test('a start takes the bundle that is there, until a source changes', async () => {
  const root = await checkout('one')
  const first = bundledProgram(root)
  expect(first).toEndWith('.js')
  expect(await import(first)).toEqual({ word: 'one' })
  expect(bundledProgram(root)).toBe(first)

  await writeFile(join(root, 'core/src/word.ts'), "export const word: string = 'two'")
  const second = bundledProgram(root)
  expect(second).not.toBe(first)
  expect(await import(second)).toEqual({ word: 'two' })

  await writeFile(join(root, 'bun.lock'), '{"changed":true}')
  expect(bundledProgram(root)).not.toBe(second)
})

test('a start takes the compiled bundle, once there is one', async () => {
  const root = await checkout('one')
  await compileBundle(root)
  const plain = bundledProgram(root)
  expect(plain).not.toContain('compiled')

  await compileBundle(root)
  const compiled = bundledProgram(root)
  expect(compiled).toEndWith('/compiled/program.js')
  expect(await Bun.file(`${compiled}.jsc`).exists()).toBe(true)
  expect(await import(compiled)).toMatchObject({ word: 'one' })

  await writeFile(join(root, 'core/src/word.ts'), "export const word: string = 'two'")
  await compileBundle(root)
  expect(await import(bundledProgram(root))).toEqual({ word: 'two' })
})

test('both find the files that the program reads', async () => {
  const root = await checkout('one')
  await writeFile(join(root, 'core/src/note.txt'), 'a note')
  const reading = `
    import { resolve } from 'node:path'
    import note from '../../core/src/note.txt' with { type: 'file' }
    export const read = () => Bun.file(resolve(import.meta.dir, note)).text()`
  await writeFile(join(root, 'creel/src/program.ts'), reading)
  const plain = await import(bundledProgram(root))
  expect(await plain.read()).toBe('a note')
  await compileBundle(root)
  const compiled = await import(bundledProgram(root))
  await rm(join(root, 'core/src/note.txt'))
  expect(await compiled.read()).toBe('a note')
})

test('sources that cannot be bundled are run as they are', async () => {
  const root = await checkout('one')
  await writeFile(join(root, 'core/src/word.ts'), 'export const = ')
  expect(bundledProgram(root)).toBe(join(root, 'creel/src/program.ts'))
})

test.skipIf(process.getuid?.() === 0)('so is a checkout that cannot be written', async () => {
  const root = await checkout('one')
  await chmod(join(root, 'creel'), 0o555)
  expect(bundledProgram(root)).toBe(join(root, 'creel/src/program.ts'))
})
