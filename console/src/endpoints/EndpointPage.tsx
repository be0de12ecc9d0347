import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { Bones } from '../parts/Bones.tsx'
import { lazyPart } from '../parts/lazyPart.tsx'
import { Problem } from '../parts/Problem.tsx'
import { CapturesScreen } from '../requests/CapturesScreen.tsx'
import { endpointQuery } from '../shell/queries.ts'
import { EndpointBar } from './EndpointBar.tsx'

const ActionsScreen = lazyPart(async () => (await import('../actions/ActionsScreen.tsx')).ActionsScreen)
const RulesScreen = lazyPart(async () => (await import('../transformations/RulesScreen.tsx')).RulesScreen)
const DeliveriesScreen = lazyPart(
  async () => (await import('../deliveries/DeliveriesScreen.tsx')).DeliveriesScreen,
)
const ReplaysScreen = lazyPart(async () => (await import('../replays/ReplaysScreen.tsx')).ReplaysScreen)
const SettingsScreen = lazyPart(async () => (await import('./SettingsScreen.tsx')).SettingsScreen)

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
