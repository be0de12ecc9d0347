import { createHash } from 'node:crypto'
import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../startupError.ts'
import type { RuntimeSource } from './runtime.ts'

/** What the build wrote down about the archive that it put into the executable. */
export interface ArchiveLabel {
  readonly version: string
  /** Of the archive's bytes, in hex. */
  readonly sha256: string
}

/**
 * The binaries inside the single executable: a tar compressed with zstd, made by `scripts/build.ts`.
 *
 * @param readArchive reads the whole archive; called only when the binaries have to be unpacked
 */
export function archiveRuntime(label: ArchiveLabel, readArchive: () => Promise<ArrayBuffer>): RuntimeSource {
  return {
    version: label.version,
    async unpack(into) {
      const archive = await readArchive()
      const sha256 = createHash('sha256').update(new Uint8Array(archive)).digest('hex')
      if (sha256 !== label.sha256) {
        throw new StartupError('The PostgreSQL inside this executable is damaged: get the executable again.')
      }
      await new Bun.Archive(await Bun.zstdDecompress(archive)).extract(into)
      // The archive keeps contents only.
      const programs = join(into, 'bin')
      for (const name of await readdir(programs)) await chmod(join(programs, name), 0o755)
    },
  }
}

/**
 * Packs the binaries of a source for {@link archiveRuntime}.
 *
 * @param folder what `unpack` of the package's source has filled
 */
export async function packRuntime(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
  const files: Record<string, Uint8Array> = {}
  for (const name of names) files[name] = await readFile(join(folder, name))
  const tar = await new Bun.Archive(files).bytes()
  return new Uint8Array(await Bun.zstdCompress(tar, { level: 12 }))
}
