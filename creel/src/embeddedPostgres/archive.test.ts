import { expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packRuntime } from './archive.ts'

test('an archive holds the files, and nothing of when it was packed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'creel-pack-'))
  try {
    await mkdir(join(folder, 'bin'))
    await writeFile(join(folder, 'bin', 'postgres'), 'x'.repeat(1500))
    await writeFile(join(folder, 'share'), '')
    const tar = await Bun.zstdDecompress(await packRuntime(folder))
    const files = await new Bun.Archive(tar).files()
    expect([...files.keys()].sort()).toEqual(['bin/postgres', 'share'])
    expect(await files.get('bin/postgres')?.text()).toBe('x'.repeat(1500))
    expect(tar.subarray(136, 148).toString('latin1')).toBe('000000000000')
  } finally {
    await rm(folder, { recursive: true })
  }
})
