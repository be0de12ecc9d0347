import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Name of the file with the checksums, beside the files that it lists. */
export const CHECKSUMS = 'SHA256SUMS'

/** Writes the checksums of files of a folder into it, as `sha256sum --check` reads them. */
export async function writeChecksums(folder: string, names: readonly string[]): Promise<void> {
  const lines = []
  for (const name of names) {
    const digest = createHash('sha256')
    for await (const chunk of createReadStream(join(folder, name))) digest.update(chunk)
    lines.push(`${digest.digest('hex')}  ${name}\n`)
  }
  await writeFile(join(folder, CHECKSUMS), lines.join(''))
}
