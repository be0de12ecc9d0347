import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import client from '../../clients/typescript/package.json'
import program from '../../creel/package.json'

/** npm requires the version in every published package. The changelog names the next one. */
test('the program, the client and the changelog name the same version', () => {
  const changelog = readFileSync(join(import.meta.dir, '../../CHANGELOG.md'), 'utf8')
  const [, version] = /^## (?:\[Unreleased\] \(|\[)(\d+\.\d+\.\d+)/m.exec(changelog) ?? []
  expect([program.version, client.version]).toEqual([String(version), String(version)])
})
