import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Values by their place in a capture, which no byte may repeat. */
export function planter() {
  const planted = new Map<string, string>()
  return {
    planted,
    plant(place: string): string {
      const value = `planted${randomBytes(12).toString('hex')}`
      planted.set(place, value)
      return value
    },
  }
}

/** The places whose values are in a text. */
export function shownIn(text: string, values: ReadonlyMap<string, string>): string[] {
  return [...values].filter(([, value]) => text.includes(value)).map(([place]) => place)
}

/** The places whose values are in some file below a folder. */
export async function foundIn(folder: string, values: ReadonlyMap<string, string>): Promise<string[]> {
  const found = new Set<string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const bytes = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0))
    for (const [place, value] of values) {
      const spellings = [value, value.toUpperCase(), Buffer.from(value).toString('hex')]
      if (spellings.some((text) => bytes.includes(text))) found.add(place)
    }
  }
  return [...found].sort()
}
