import type { EndpointChanges } from './endpointChanges.ts'

/**
 * Changes of an endpoint. `next` resolves at once if one came since its last call, when `ended` aborts, or after
 * `longestMs`.
 */
export function changesOf(
  { endpointChanges }: { readonly endpointChanges: EndpointChanges },
  endpointId: string,
  ended: AbortSignal,
) {
  let changed = ended.aborted
  let wake: () => void = () => {}
  const notice = () => {
    changed = true
    wake()
  }
  const stop = endpointChanges.onEndpoint(endpointId, notice)
  ended.addEventListener('abort', notice, { once: true })
  return {
    stop,
    async next(longestMs?: number): Promise<void> {
      let timer: ReturnType<typeof setTimeout> | undefined
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (longestMs !== undefined) timer = setTimeout(resolve, longestMs)
        })
      }
      clearTimeout(timer)
      changed = ended.aborted
    },
  }
}
