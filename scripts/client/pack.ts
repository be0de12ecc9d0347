/** `bun run client:pack`: makes the tarball of `creel-client` in `dist/`, as a release has it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { installMissing } from '../install.ts'

installMissing()
// Not before: they import packages.
const { buildClient } = await import('./build.ts')
const { clientTarball } = await import('../release/npmPackages.ts')
const { default: client } = await import('../../clients/typescript/package.json', { with: { type: 'json' } })

const DIST = join(import.meta.dir, '../../dist')

const scratch = await mkdtemp(join(tmpdir(), 'creel-client-'))
try {
  await buildClient(join(scratch, 'client'))
  const tarball = await clientTarball(
    { version: client.version, repository: undefined },
    join(scratch, 'client'),
  )
  await mkdir(DIST, { recursive: true })
  await writeFile(join(DIST, tarball.name), tarball.contents)
  process.stdout.write(`${relative(process.cwd(), join(DIST, tarball.name))}\n`)
} finally {
  await rm(scratch, { recursive: true, force: true })
}
