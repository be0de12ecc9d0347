import { useCallback, useLayoutEffect } from 'react'
import { useSearchParams } from 'wouter'

const TABS = ['body', 'headers', 'query', 'deliveries'] as const

export type Tab = (typeof TABS)[number]

/**
 * State of the captures screen that is part of the address, so that it survives reloads, can be shared, and is in the
 * history.
 */
export interface CaptureAddress {
  readonly q: string
  readonly r: number | undefined
  readonly tab: Tab
  readonly c: number | undefined
  /** Whether the form to edit and send it is open. */
  readonly isEdited: boolean
  /** Whether the form for a sample event is open. */
  readonly isSampling: boolean
}

/** Changes some parameters; undefined removes one. `replace` adds no entry to the history. */
export type ChangeAddress = (
  change: Readonly<Record<string, string | number | undefined>>,
  replace?: boolean,
) => void

/** Reads and writes the captures screen's state in the address. Invalid values count as absent. */
export function useCaptureAddress(): [CaptureAddress, ChangeAddress] {
  const [params, change] = useAddress()
  return [
    {
      q: params.get('q') ?? '',
      r: idOf(params.get('r')),
      tab: TABS.find((known) => known === params.get('tab')) ?? 'body',
      c: idOf(params.get('c')),
      isEdited: params.get('edit') === '1',
      isSampling: params.get('sample') === '1',
    },
    change,
  ]
}

/** The parameters of the address, and a function that changes some of them. */
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

/** Titles the page; only Creel before its name is known. Before the effects of its parts, which may add to the title. */
export function useTitle(title = ''): void {
  useLayoutEffect(() => {
    document.title = `${title && `${title} · `}Creel`
  }, [title])
}
