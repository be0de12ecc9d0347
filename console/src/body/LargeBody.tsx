import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { download } from '../parts/CopyButton.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel, type RequestDetail } from '../trpc.ts'
import { bytesOfBase64, utf8Of } from '../words/copyAs.ts'
import { bytes } from '../words/format.ts'
import { BodyView } from './BodyView.tsx'

/** Bytes of one call: small enough to show progress and to allow a stop. */
const PART_BYTES = 2_097_152

/** A body that is too long to load unasked. It is loaded part by part on request. */
export function LargeBody({ endpointId, request }: { endpointId: string; request: RequestDetail }) {
  const { bodyTruncated, contentType, id, rawHeaders, sizeBytes } = request
  const encoding = rawHeaders.find(
    ({ name, value }) => name.toLowerCase() === 'content-encoding' && value !== 'identity',
  )?.value
  const [done, setDone] = useState({ bytes: 0, of: sizeBytes })
  const stopped = useRef(false)
  const stop = () => {
    stopped.current = true
  }
  const isToShow = useRef(false)
  // Stop loading when the body is no longer shown, but not a download.
  useEffect(
    () => () => {
      if (isToShow.current) stopped.current = true
    },
    [],
  )
  const load = useMutation({
    mutationFn: async ({ decoded }: { readonly decoded: boolean }) => {
      stopped.current = false
      isToShow.current = decoded
      const parts: Uint8Array<ArrayBuffer>[] = []
      for (let from = 0; !stopped.current; ) {
        const range = `bytes=${from}-${from + PART_BYTES - 1}`
        const { content, total } = await creel.requests.body.query({
          endpointId,
          requestId: id,
          range,
          decoded,
        })
        parts.push(bytesOfBase64(content))
        from += PART_BYTES
        setDone({ bytes: Math.min(from, total), of: total })
        if (from >= total) return await joined(parts)
      }
      return null
    },
  })
  const save = useMutation({
    mutationFn: () => load.mutateAsync({ decoded: false }),
    onSuccess: (all) => {
      if (all !== null) download(all, `request-${id}.bin`)
    },
  })
  const all = load.data
  // An encoded body that was only downloaded is not what is shown.
  const isShown = encoding === undefined || load.variables?.decoded === true
  if (all !== undefined && all !== null && isShown) {
    // A body that cannot be decoded comes as it is.
    const text = (encoding === undefined && request.bodyIsBinary) || all.includes(0) ? null : utf8Of(all)
    return (
      <BodyView
        hasKey
        body={text ?? ''}
        octets={all}
        isBinary={text === null}
        isTruncated={bodyTruncated}
        contentType={contentType}
        sizeBytes={sizeBytes}
        note={
          encoding === undefined
            ? undefined
            : `Arrived as ${encoding}. Shown ${text === null ? 'as it came' : 'decoded'}: ${bytes(all.length)}.`
        }
        name={`request-${id}`}
      />
    )
  }
  return (
    <div className="large-body">
      <Problem error={load.error} onRetry={() => load.mutate({ decoded: true })} />
      {load.isPending ? (
        <>
          <progress value={done.bytes} max={Math.max(1, done.of)} aria-label="Loading the body" />
          <p className="acts">
            <span className="hint num">
              {bytes(done.bytes)} of {bytes(done.of)}
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
            <Button look="primary" onClick={() => load.mutate({ decoded: true })}>
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
