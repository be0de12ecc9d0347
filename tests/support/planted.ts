import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'

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

/** The places whose values are in some row of a database, as `pg_dump` writes it: also where a file has them compressed. */
export async function foundInRows(url: string, values: ReadonlyMap<string, string>): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
    )
    const found = new Set<string>()
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`)
      for (const { text } of rows)
        for (const [place, value] of values)
          if (text.includes(value) || text.includes(Buffer.from(value).toString('hex'))) found.add(place)
    }
    return [...found].sort()
  } finally {
    await client.end()
  }
}
