import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link, Redirect } from 'wouter'
import { lazyPart, lazyScreen } from '../parts/Boundary.tsx'
import { Button } from '../parts/Button.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { Writes } from '../parts/Writes.tsx'
import { endpointQuery, endpointsQuery } from '../queries.ts'
import { CapturesScreen } from '../requests/CapturesScreen.tsx'
import { EndpointBar } from './EndpointBar.tsx'

const ActionsScreen = lazyScreen(async () => (await import('../actions/ActionsScreen.tsx')).ActionsScreen)
const RulesScreen = lazyScreen(async () => (await import('../transformations/RulesScreen.tsx')).RulesScreen)
const DeliveriesScreen = lazyScreen(
  async () => (await import('../deliveries/DeliveriesScreen.tsx')).DeliveriesScreen,
)
const ReplaysScreen = lazyScreen(async () => (await import('../replays/ReplaysScreen.tsx')).ReplaysScreen)
const SettingsScreen = lazyScreen(async () => (await import('./SettingsScreen.tsx')).SettingsScreen)

const PLACES = {
  actions: ActionsScreen,
  rules: RulesScreen,
  deliveries: DeliveriesScreen,
  rehearse: ReplaysScreen,
  settings: SettingsScreen,
} as const

/** An endpoint and its tabs, and its rehearsals. `rest` is the address below it. */
export function EndpointPage({ endpointId, rest }: { endpointId: string; rest: string }) {
  const endpoint = useQuery(endpointQuery(endpointId))
  const [first = '', second] = rest.split('/')
  const place = isPlace(first) ? first : 'captures'
  const name = endpoint.data?.name
  useEffect(() => {
    document.title = name === undefined ? 'Creel' : `${name} · Creel`
  }, [name])
  if (endpoint.data === undefined) {
    return (
      <main id="main" className="page" aria-busy={endpoint.isLoading}>
        <h1 className="sr-only">Endpoint</h1>
        {endpoint.error === null ? <Bones /> : <Gone error={endpoint.error} />}
      </main>
    )
  }
  if (place === 'captures') return <CapturesScreen endpoint={endpoint.data} />
  const Screen = PLACES[place]
  return (
    <main id="main" className="page">
      <EndpointBar endpoint={endpoint.data} place={place === 'rehearse' ? 'deliveries' : place} />
      <div className="page-body">
        <Screen endpoint={endpoint.data} item={second} />
      </div>
    </main>
  )
}

function Gone({ error }: { error: unknown }) {
  return (
    <div className="nothing">
      <Problem error={error} />
      <Link href="/" className="button">
        Go to endpoints
      </Link>
    </div>
  )
}

function isPlace(name: string): name is keyof typeof PLACES {
  return name in PLACES
}

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
      {isNew && <NewEndpoint onClose={() => setNew(false)} />}
    </main>
  )
}
