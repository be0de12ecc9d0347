import { join } from 'node:path'

/** Pages to hold open, and of what. */
export interface PagesOrder {
  readonly baseUrl: string
  /** Whose workspace they are signed in to. */
  readonly key: string
  readonly endpointId: string
  readonly pages: number
}

/** Open pages of the console, as far as the service can tell. */
export interface OpenPages {
  close(): Promise<void>
}

/** Opens them in a process of its own, which reads what they are sent and drops it. Resolves when each has its stream. */
export async function openPages(order: PagesOrder): Promise<OpenPages> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'pageReaders.ts'), JSON.stringify(order)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const { done } = await child.stdout.getReader().read()
  if (done) throw new Error('The pages could not be opened.')
  return {
    async close() {
      await child.stdin.end()
      await child.exited
    },
  }
}
