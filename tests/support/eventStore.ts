import type {
  Experimental_MCPEventStore as Store,
  Experimental_MCPEventSubscription as StoredSubscription,
} from '@ai-sdk/mcp'

/** A store of the client of the AI SDK. */
export function memoryStore(): Store {
  const rows = new Map<string, StoredSubscription>()
  return {
    get: async (key) => rows.get(key),
    getById: async (id) => [...rows.values()].find((row) => row.id === id),
    set: async (row) => void rows.set(row.key, row),
    update: async (key, patch) => {
      const row = rows.get(key)
      if (row !== undefined) rows.set(key, { ...row, ...patch })
    },
    delete: async (key) => void rows.delete(key),
  }
}
