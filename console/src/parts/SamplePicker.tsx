import { useQuery } from '@tanstack/react-query'
import { useAddress } from '../address.ts'
import { creel, type RequestSummary } from '../trpc.ts'
import { Button } from './Button.tsx'

const SAMPLES = 50

/** A captured request on which something unsaved is tried. */
export type Sample = ReturnType<typeof useSample>

/** The newest requests of an endpoint, and the one that the address names. */
export function useSample(endpointId: string) {
  const [params, change] = useAddress()
  const samples = useQuery({
    queryKey: ['samples', endpointId],
    queryFn: () => creel.requests.list.query({ endpointId, page: 1, pageSize: SAMPLES }),
    staleTime: 60_000,
  })
  const rows = samples.data?.items ?? []
  const id = Number(params.get('on') ?? rows[0]?.id ?? 0)
  const at = rows.findIndex((row) => row.id === id)
  const to = (row: RequestSummary | undefined) =>
    row === undefined ? undefined : () => change({ on: row.id }, true)
  return {
    // 0 while none is known.
    id,
    row: rows[at],
    error: samples.error,
    // The endpoint has captured nothing.
    isNone: samples.data !== undefined && rows.length === 0,
    // They move to another request; undefined where there is none.
    newer: at > 0 ? to(rows[at - 1]) : undefined,
    older: at < 0 ? undefined : to(rows[at + 1]),
  }
}

/** The head of a preview: which request it is about, and the way to its neighbours. */
export function SamplePicker({ sample }: { readonly sample: Sample }) {
  return (
    <div className="acts">
      <b>Preview on #{sample.id}</b>
      <span className="hint cut">{sample.row?.label}</span>
      <Button look="small" onClick={sample.newer} disabled={sample.newer === undefined}>
        Newer
      </Button>
      <Button look="small" onClick={sample.older} disabled={sample.older === undefined}>
        Older
      </Button>
    </div>
  )
}
