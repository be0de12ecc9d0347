import { createHash } from 'node:crypto'
import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../startupError.ts'
import type { RuntimeSource } from './runtime.ts'

/** Facts about the archive inside the executable, recorded by the build. */
export interface ArchiveLabel {
  readonly version: string
  /** Hash of the archive's bytes, in hex. */
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
        throw new StartupError(
          'The PostgreSQL inside this executable is damaged. Download the executable again.',
        )
      }
      await new Bun.Archive(await Bun.zstdDecompress(archive)).extract(into)
      // The archive stores no modes.
      const programs = join(into, 'bin')
      for (const name of await readdir(programs)) await chmod(join(programs, name), 0o755)
    },
  }
}

/**
 * Packs the binaries of a source for {@link archiveRuntime}.
 *
 * @param folder filled by `unpack` of the package's source
 */
export async function packRuntime(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
  const files: Record<string, Uint8Array> = {}
  for (const name of names) files[name] = await readFile(join(folder, name))
  const tar = withoutTimes(await new Bun.Archive(files).bytes())
  return new Uint8Array(await Bun.zstdCompress(tar, { level: 12 }))
}

const BLOCK = 512
/** Byte ranges of fields in a tar header. */
const FIELD = { size: [124, 136], time: [136, 148], checksum: [148, 156] } as const

/** The same tar with all times set to 1970, so that packing the same files twice makes the same bytes. */
function withoutTimes(tar: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(tar)
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const header = bytes.subarray(at, at + BLOCK)
    const size = Number.parseInt(header.toString('latin1', ...FIELD.size), 8)
    header.fill('0', ...FIELD.time).fill(' ', ...FIELD.checksum)
    const checksum = header.reduce((sum, byte) => sum + byte, 0)
    header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, FIELD.checksum[0], 'latin1')
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return new Uint8Array(bytes)
}
