import { useQuery } from '@tanstack/react-query'
import { Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { Link, Redirect, Route, Switch, useLocation } from 'wouter'
import { useTitle } from './address.ts'
import { EndpointBar } from './endpoints/EndpointBar.tsx'
import { followSignIns, hasLoadedAnything } from './live/queryClient.ts'
import { session } from './outage.ts'
import { Boundary, Loading, lazyPart, lazyScreen } from './parts/Boundary.tsx'
import { Button } from './parts/Button.tsx'
import { Bones, Problem } from './parts/Problem.tsx'
import { keepFocus } from './parts/shortcuts.ts'
import { Toasts } from './parts/Toasts.tsx'
import { Writes } from './parts/Writes.tsx'
import { endpointQuery, endpointsQuery } from './queries.ts'
import { CapturesScreen } from './requests/CapturesScreen.tsx'
import { Shell } from './shell/Shell.tsx'
import { statusOf } from './trpc.ts'

const signIn = () => import('./signIn/SignIn.tsx')
const SignInScreen = lazyPart(async () => (await signIn()).SignInScreen)
const SignInHere = lazyPart(async () => (await signIn()).SignInHere)
const SignInAgain = lazyPart(async () => (await signIn()).SignInAgain)
const WatchdogsScreen = lazyScreen(
  async () => (await import('./watchdogs/WatchdogsScreen.tsx')).WatchdogsScreen,
)
const AlertsScreen = lazyScreen(async () => (await import('./alertChannels/AlertsScreen.tsx')).AlertsScreen)
const RecycleBinScreen = lazyScreen(
  async () => (await import('./recycleBin/RecycleBinScreen.tsx')).RecycleBinScreen,
)
const HealthScreen = lazyScreen(async () => (await import('./health/HealthScreen.tsx')).HealthScreen)
const UsageScreen = lazyScreen(async () => (await import('./usage/UsageScreen.tsx')).UsageScreen)
const SearchScreen = lazyScreen(async () => (await import('./search/SearchScreen.tsx')).SearchScreen)
const AuditScreen = lazyScreen(async () => (await import('./audit/AuditScreen.tsx')).AuditScreen)
const AccessScreen = lazyScreen(async () => (await import('./access/AccessScreen.tsx')).AccessScreen)

export function App() {
  const state = useSyncExternalStore(session.subscribe, session.get)
  const [address] = useLocation()
  useEffect(followSignIns, [])
  useEffect(keepFocus, [])
  const isNewcomer = state === 'out' && !hasLoadedAnything()
  return (
    <>
      <Switch>
        <Route path="/sign-in" component={SignInScreen} />
        {isNewcomer && <Route component={SignInHere} />}
        <Route>
          <Shell>
            <Boundary of={address}>
              <Suspense fallback={<Loading />}>
                <Switch>
                  <Route path="/e/:endpointId/*?">
                    {({ endpointId, '*': rest }) => (
                      <EndpointPage key={endpointId} endpointId={endpointId} rest={rest ?? ''} />
                    )}
                  </Route>
                  <Route path="/watchdogs/:id?">{({ id }) => <WatchdogsScreen id={id} />}</Route>
                  <Route path="/search" component={SearchScreen} />
                  <Route path="/alerts" component={AlertsScreen} />
                  <Route path="/bin" component={RecycleBinScreen} />
                  <Route path="/usage" component={UsageScreen} />
                  <Route path="/health" component={HealthScreen} />
                  <Route path="/access" component={AccessScreen} />
                  <Route path="/audit" component={AuditScreen} />
                  <Route path="/" component={FirstEndpoint} />
                  <Route component={NoSuchPage} />
                </Switch>
              </Suspense>
            </Boundary>
          </Shell>
          {state === 'out' && <SignInAgain />}
        </Route>
      </Switch>
      <Toasts />
    </>
  )
}

function NoSuchPage() {
  const title = 'There is no such page'
  useTitle(title)
  return (
    <main id="main" className="nothing">
      <h1>{title}</h1>
      <Link href="/" className="button">
        Go to endpoints
      </Link>
    </main>
  )
}

const ActionsScreen = lazyScreen(async () => (await import('./actions/ActionsScreen.tsx')).ActionsScreen)
const RulesScreen = lazyScreen(async () => (await import('./transformations/RulesScreen.tsx')).RulesScreen)
const DeliveriesScreen = lazyScreen(
  async () => (await import('./deliveries/DeliveriesScreen.tsx')).DeliveriesScreen,
)
const ReplaysScreen = lazyScreen(async () => (await import('./replays/ReplaysScreen.tsx')).ReplaysScreen)
const SettingsScreen = lazyScreen(async () => (await import('./endpoints/SettingsScreen.tsx')).SettingsScreen)

const PLACES = {
  actions: ActionsScreen,
  rules: RulesScreen,
  deliveries: DeliveriesScreen,
  rehearse: ReplaysScreen,
  settings: SettingsScreen,
} as const

/** An endpoint and its tabs, and its rehearsals. `rest` is the address below it. */
function EndpointPage({ endpointId, rest }: { endpointId: string; rest: string }) {
  const endpoint = useQuery(endpointQuery(endpointId))
  const [first = '', second] = rest.split('/')
  const place = isPlace(first) ? first : 'captures'
  useTitle(endpoint.data?.name)
  if (endpoint.data === undefined || statusOf(endpoint.error) === 404) {
    return (
      <main id="main" className="page" aria-busy={endpoint.isLoading}>
        <h1 className="sr-only">Endpoint</h1>
        {endpoint.error === null ? (
          <Bones />
        ) : (
          <Gone error={endpoint.error} onRetry={() => void endpoint.refetch()} />
        )}
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

function Gone({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div className="nothing">
      <Problem error={error} onRetry={statusOf(error) === 404 ? undefined : onRetry} />
      <Link href="/" className="button">
        Go to endpoints
      </Link>
    </div>
  )
}

function isPlace(name: string): name is keyof typeof PLACES {
  return Object.hasOwn(PLACES, name)
}

const NewEndpoint = lazyPart(async () => (await import('./endpoints/NewEndpoint.tsx')).NewEndpoint)

/** Start page: the endpoint with the latest capture. */
function FirstEndpoint() {
  useTitle()
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
