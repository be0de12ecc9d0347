import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { problemOf } from '../words/problem.ts'
import { Button } from './Button.tsx'

/** An error in the service's words, with a retry button. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  if (error === null || error === undefined) return null
  const { detail, items, traceId } = problemOf(error)
  return (
    <div className="problem" role="alert">
      <p>{detail}</p>
      {items.length > 0 && (
        <ul>
          {items.map((item) => (
            <li key={item.pointer + item.detail}>{item.detail}</li>
          ))}
        </ul>
      )}
      {onRetry !== undefined && (
        <Button look="small" onClick={onRetry}>
          Try again
        </Button>
      )}
      {traceId !== null && (
        <details>
          <summary>Details</summary>
          traceId <code>{traceId}</code>
        </details>
      )}
    </div>
  )
}

export function Problems({ of }: { readonly of: readonly string[] }) {
  return of.map((detail) => (
    <p key={detail} className="problem" role="alert">
      {detail}
    </p>
  ))
}

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7]

/** Placeholder while content loads. It is hidden for the first 150 ms, so that fast loads do not flicker. */
export function Bones() {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150)
    return () => clearTimeout(timer)
  }, [])
  if (!isLate) return null
  return (
    <div className="bones" aria-hidden="true">
      {ROWS.map((row) => (
        <i key={row} />
      ))}
    </div>
  )
}

/** Placeholder of a list while it loads, and its error with a retry button. */
export function QueryState({ of }: { readonly of: Pick<UseQueryResult, 'error' | 'isLoading' | 'refetch'> }) {
  return of.isLoading ? <Bones /> : <Problem error={of.error} onRetry={() => void of.refetch()} />
}
