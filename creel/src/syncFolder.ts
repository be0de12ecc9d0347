import { open } from 'node:fs/promises'

/** Makes the names in a folder durable: a file that was synced can still lose its name when the machine loses power. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
