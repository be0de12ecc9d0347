import { useEffect, useSyncExternalStore } from 'react'
import { Button } from '../parts/Button.tsx'
import { count } from '../words/format.ts'
import { bulk, stopBulk } from './bulk.ts'

/** Progress of a bulk operation; its result stays until it is dismissed. */
export function BulkBar({ endpointId }: { endpointId: string }) {
  const now = useSyncExternalStore(bulk.subscribe, bulk.get)
  const isRunning = now?.isRunning === true
  useEffect(() => {
    if (!isRunning) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isRunning])
  if (now === null || now.endpointId !== endpointId) return null
  const { done, failed, isStopped, problem, skipped, total, verb } = now
  return (
    <div className="progress" role="status">
      {isRunning && <progress max={Math.max(total, 1)} value={done + skipped + failed} aria-label={verb} />}
      <span>
        <b>{count(done)}</b> {verb}
        {skipped > 0 && `, ${count(skipped)} skipped: no action matches, or they were deleted`}
        {failed > 0 && <span className="bad">, {count(failed)} failed</span>}
        {isStopped && ', stopped'}
        {problem !== null && <span className="bad"> {problem}</span>}
      </span>
      {isRunning ? (
        <Button look="small" onClick={stopBulk} disabled={isStopped}>
          Stop
        </Button>
      ) : (
        <Button look="small" onClick={() => bulk.set(null)}>
          Dismiss
        </Button>
      )}
    </div>
  )
}
