/** Members of a query; absent ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** The REST API as the tools call it: with one key, over the network or in process. */
export interface McpApi {
  /** @throws RefusedCall for every answer that is no success; null for 204 */
  call(
    method: string,
    path: string,
    input?: { readonly query?: Query; readonly body?: unknown },
  ): Promise<unknown>
}

/** What the API refused a call with: for the model, which may mend its input. */
export class RefusedCall extends Error {}

/**
 * The API behind whatever sends requests.
 *
 * @param send gets a path with its query; adds the key
 */
export function mcpApi(send: (path: string, init: RequestInit) => Promise<Response>): McpApi {
  return {
    async call(method, path, { query = {}, body } = {}) {
      const search = new URLSearchParams()
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) search.set(name, String(value))
      }
      const response = await send(search.size === 0 ? path : `${path}?${search}`, {
        method,
        ...(body === undefined
          ? {}
          : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new RefusedCall(refusalText(response.status, text))
      return text === '' ? null : JSON.parse(text)
    },
  }
}

/** The problem without what only programs need. */
function refusalText(status: number, text: string): string {
  try {
    const { code, detail, errors = [] } = JSON.parse(text)
    const items = Array.isArray(errors)
      ? errors.map(({ pointer, parameter, detail: what }) => `\n- ${pointer ?? parameter}: ${what}`)
      : []
    return `${code}: ${detail}${items.join('')}`
  } catch {
    return `The service answered ${status}.`
  }
}
