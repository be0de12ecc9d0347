import { afterAll, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assembleRelease } from './assemble.ts'
import { NPM_PLATFORMS } from './npmPackages.ts'

const scratch = await mkdtemp(join(tmpdir(), 'creel-release-'))
afterAll(() => rm(scratch, { recursive: true, force: true }))

const VERSION = '9.8.7'
const REPOSITORY = 'https://git.example.com/owner/creel'
const CLIENT_FILES = ['package.json', 'index.js', 'testing/index.js']

/** A release of small executables, whose sources were written in this order. */
async function release(name: string, clientFiles: readonly string[], modified: Date) {
  const folder = join(scratch, name)
  const client = join(scratch, `${name}-client`)
  await mkdir(folder)
  await mkdir(join(client, 'testing'), { recursive: true })
  for (const target of [...NPM_PLATFORMS, 'linux-x64-musl']) {
    await writeFile(join(folder, `creel-${target}`), `#!/bin/sh\necho ${target}\n`)
    await chmod(join(folder, `creel-${target}`), 0o755)
  }
  for (const file of clientFiles) {
    await writeFile(join(client, file), file === 'package.json' ? '{"name":"creel-client"}' : file)
    await utimes(join(client, file), modified, modified)
  }
  const parts = { version: VERSION, repository: REPOSITORY, client, sbom: '{}' }
  return { folder, names: await assembleRelease(folder, parts) }
}

describe('a release', () => {
  test('has everything that is published, and the checksum of each', async () => {
    const { folder, names } = await release('whole', CLIENT_FILES, new Date(0))
    const packages = ['', ...NPM_PLATFORMS.map((platform) => `-${platform}`), '-client']
    const expected = [
      ...NPM_PLATFORMS.map((platform) => `creel-${platform}`),
      'creel-linux-x64-musl',
      ...packages.map((suffix) => `creel${suffix}-${VERSION}.tgz`),
      'creel.cdx.json',
      'creel.env',
      'creel.rb',
      'creel.service',
      'image/Dockerfile',
    ]
    expect(names.toSorted()).toEqual(expected.toSorted())
    const checked = Bun.spawnSync(['sha256sum', '--check', '--strict', 'SHA256SUMS'], { cwd: folder })
    expect(checked.exitCode).toBe(0)
    expect(checked.stdout.toString().trimEnd().split('\n')).toEqual(names.map((name) => `${name}: OK`))
    expect((await readdir(join(folder, 'image'))).sort()).toEqual([
      'Dockerfile',
      'creel-amd64',
      'creel-arm64',
    ])
  })

  test('of the same parts has the same bytes, whenever and in whatever order they were written', async () => {
    const one = await release('one', CLIENT_FILES, new Date(0))
    const two = await release('two', CLIENT_FILES.toReversed(), new Date())
    expect(await readFile(join(two.folder, 'SHA256SUMS'), 'utf8')).toBe(
      await readFile(join(one.folder, 'SHA256SUMS'), 'utf8'),
    )
  })

  test('its image takes the executables from its own folder, and nothing is compiled', async () => {
    const { folder } = await release('image', CLIENT_FILES, new Date(0))
    const dockerfile = await readFile(join(folder, 'image/Dockerfile'), 'utf8')
    expect(dockerfile).toContain('COPY --chmod=0755 creel-$TARGETARCH /usr/local/bin/creel\n')
    expect(dockerfile).not.toMatch(/bun|--from=/)
    expect(dockerfile).toContain('ENTRYPOINT ["creel"]')
  })

  test('its formula takes the packages that npm has, by their checksums', async () => {
    const { folder } = await release('formula', CLIENT_FILES, new Date(0))
    const formula = await readFile(join(folder, 'creel.rb'), 'utf8')
    for (const platform of NPM_PLATFORMS) {
      const tarball = await readFile(join(folder, `creel-${platform}-${VERSION}.tgz`))
      const sha256 = new Bun.CryptoHasher('sha256').update(tarball).digest('hex')
      expect(formula).toContain(
        `url "https://registry.npmjs.org/@creel/${platform}/-/${platform}-${VERSION}.tgz"\n      sha256 "${sha256}"`,
      )
    }
  })

  test('its packages name the repository, which npm compares with where they were built', async () => {
    const { folder } = await release('repository', CLIENT_FILES, new Date(0))
    for (const suffix of ['', ...NPM_PLATFORMS.map((platform) => `-${platform}`), '-client']) {
      const tar = Bun.gunzipSync(await Bun.file(join(folder, `creel${suffix}-${VERSION}.tgz`)).bytes())
      expect(Buffer.from(tar).toString('latin1')).toContain(`"url": "git+${REPOSITORY}.git"`)
    }
  })
})
