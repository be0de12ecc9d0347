import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Redirect } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { lazyPart } from '../parts/lazyPart.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Writes } from '../parts/Writes.tsx'
import { endpointsQuery } from '../shell/queries.ts'

const NewEndpoint = lazyPart(async () => (await import('./NewEndpoint.tsx')).NewEndpoint)

/** Start page: the endpoint with the latest capture. */
export function FirstEndpoint() {
  const endpoints = useQuery(endpointsQuery)
  const [isNew, setNew] = useState(false)
  if (endpoints.data === undefined) {
    return (
      <main id="main" className="wait" aria-busy={endpoints.isLoading}>
        <h1 className="sr-only">Creel</h1>
        <Problem error={endpoints.error} onRetry={() => void endpoints.refetch()} />
      </main>
    )
  }
  const [first] = endpoints.data.items.toSorted((left, right) =>
    (right.lastRequestAt ?? '').localeCompare(left.lastRequestAt ?? ''),
  )
  if (first !== undefined) return <Redirect to={`/e/${first.id}`} replace />
  return (
    <main id="main" className="page">
      <div className="nothing">
        <h1>No endpoint yet</h1>
        <p>An endpoint has a URL that captures every request sent to it.</p>
        <Writes>
          <Button look="primary" onClick={() => setNew(true)}>
            Create endpoint
          </Button>
        </Writes>
      </div>
      <Suspense>{isNew && <NewEndpoint onClose={() => setNew(false)} />}</Suspense>
    </main>
  )
}
