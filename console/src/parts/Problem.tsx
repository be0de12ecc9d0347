import { problemOf } from '../words/problem.ts'

/** What went wrong, where it did, in the service's words, and the way on. */
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
        <button type="button" className="button small" onClick={onRetry}>
          Try again
        </button>
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

/** What is wrong with a form as a whole, a line each. */
export function Problems({ of }: { readonly of: readonly string[] }) {
  return of.map((detail) => (
    <p key={detail} className="problem" role="alert">
      {detail}
    </p>
  ))
}
