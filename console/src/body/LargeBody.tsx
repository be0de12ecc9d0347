import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { download } from '../parts/CopyButton.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { bytesOfBase64 } from '../words/copyAs.ts'
import { bytes } from '../words/format.ts'
import { BodyView } from './BodyView.tsx'

/** Bytes of one call: small enough to show progress and to allow a stop. */
const PART_BYTES = 2_097_152

interface Props {
  readonly endpointId: string
  readonly request: {
    readonly id: number
    readonly sizeBytes: number
    readonly bodyIsBinary: boolean
    readonly bodyTruncated: boolean
    readonly contentType: string | null
  }
}

/** A body that is too long to load unasked. It is loaded part by part on request. */
export function LargeBody({ endpointId, request }: Props) {
  const { bodyIsBinary, bodyTruncated, contentType, id, sizeBytes } = request
  const [done, setDone] = useState(0)
  const stopped = useRef(false)
  const stop = () => {
    stopped.current = true
  }
  const load = useMutation({
    mutationFn: async () => {
      stopped.current = false
      const parts: Uint8Array<ArrayBuffer>[] = []
      for (let from = 0; !stopped.current; ) {
        const range = `bytes=${from}-${from + PART_BYTES - 1}`
        const { content, total } = await creel.requests.body.query({ endpointId, requestId: id, range })
        parts.push(bytesOfBase64(content))
        from += PART_BYTES
        setDone(Math.min(from, total))
        if (from >= total) return await joined(parts)
      }
      return null
    },
  })
  const save = useMutation({
    mutationFn: () => load.mutateAsync(),
    onSuccess: (all) => {
      if (all !== null) download(all, `request-${id}.bin`)
    },
  })
  const all = load.data
  if (all !== undefined && all !== null) {
    return (
      <BodyView
        hasKey
        body={bodyIsBinary ? '' : new TextDecoder().decode(all)}
        octets={all}
        isBinary={bodyIsBinary}
        isTruncated={bodyTruncated}
        contentType={contentType}
        sizeBytes={sizeBytes}
        name={`request-${id}`}
      />
    )
  }
  return (
    <div className="large-body">
      <Problem error={load.error} onRetry={() => load.mutate()} />
      {load.isPending ? (
        <>
          <progress value={done} max={Math.max(1, sizeBytes)} aria-label="Loading the body" />
          <p className="acts">
            <span className="hint num">
              {bytes(done)} of {bytes(sizeBytes)}
            </span>
            <Button look="small" onClick={stop}>
              Stop
            </Button>
          </p>
        </>
      ) : (
        <>
          <p>Large body ({bytes(sizeBytes)})</p>
          <p className="acts">
            <Button look="primary" onClick={() => load.mutate()}>
              Load
            </Button>
            <Button onClick={() => save.mutate()}>
              <Download size={14} /> Download
            </Button>
          </p>
        </>
      )}
    </div>
  )
}

async function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Blob([...parts]).arrayBuffer())
}
