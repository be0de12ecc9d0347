import type { EndpointChanges } from './endpointChanges.ts'

/** Changes of an endpoint. `next` resolves at once if one came since its last call, or when `ended` aborts. */
export function changesOf(
  { endpointChanges }: { readonly endpointChanges: EndpointChanges },
  endpointId: string,
  ended: AbortSignal,
) {
  let changed = false
  let wake: () => void = () => {}
  const notice = () => {
    changed = true
    wake()
  }
  const stop = endpointChanges.onEndpoint(endpointId, notice)
  ended.addEventListener('abort', notice, { once: true })
  return {
    stop,
    async next(): Promise<void> {
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      changed = false
    },
  }
}
