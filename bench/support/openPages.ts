import { join } from 'node:path'

/** Pages to hold open. */
export interface PagesOrder {
  readonly baseUrl: string
  /** Key of the workspace that they are signed in to. */
  readonly key: string
  readonly endpointId: string
  readonly pages: number
}

/** Connections that look like open pages of the console to the service. */
export interface OpenPages {
  close(): Promise<void>
}

/** Opens pages in a separate process, which reads and drops their data. Resolves when each has its stream. */
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
