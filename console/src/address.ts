import { useCallback } from 'react'
import { useSearchParams } from 'wouter'

/** The tabs of a request. */
export const TABS = ['body', 'headers', 'query', 'deliveries'] as const

/** A tab of a request. */
export type Tab = (typeof TABS)[number]

/** What of the captures of an endpoint stands in the address, so that it can be reloaded, sent and gone back to. */
export interface CaptureAddress {
  /** The search, as it was typed. */
  readonly q: string
  /** The request that is open. */
  readonly r: number | undefined
  readonly tab: Tab
  /** The request that it is compared with. */
  readonly c: number | undefined
  /** Whether it is being changed to be sent. */
  readonly isEdited: boolean
}

/** Changes some of it; undefined takes away. `replace` leaves no step in the history. */
export type ChangeAddress = (
  change: Readonly<Record<string, string | number | undefined>>,
  replace?: boolean,
) => void

/** Reads and writes what stands in the address; what is not understood counts as left out. */
export function useCaptureAddress(): [CaptureAddress, ChangeAddress] {
  const [params, change] = useAddress()
  return [
    {
      q: params.get('q') ?? '',
      r: idOf(params.get('r')),
      tab: TABS.find((known) => known === params.get('tab')) ?? 'body',
      c: idOf(params.get('c')),
      isEdited: params.get('edit') === '1',
    },
    change,
  ]
}

/** The parameters of the address, and a way to change some of them. */
export function useAddress(): [URLSearchParams, ChangeAddress] {
  const [params, setParams] = useSearchParams()
  const change: ChangeAddress = useCallback(
    (changes, replace = false) => {
      setParams(
        (old) => {
          const next = new URLSearchParams(old)
          for (const [name, value] of Object.entries(changes)) {
            if (value === undefined || value === '') next.delete(name)
            else next.set(name, String(value))
          }
          return next
        },
        { replace },
      )
    },
    [setParams],
  )
  return [params, change]
}

function idOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
