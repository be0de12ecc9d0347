import { Suspense, useSyncExternalStore } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { EndpointPage, FirstEndpoint } from './endpoints/EndpointPage.tsx'
import { session } from './live/outage.ts'
import { hasLoadedAnything } from './live/queryClient.ts'
import { Boundary, Loading, lazyPart, lazyScreen } from './parts/Boundary.tsx'
import { Toasts } from './parts/Toasts.tsx'
import { Shell } from './shell/Shell.tsx'

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
                  <Route>
                    <main id="main" className="nothing">
                      <h1>There is no such page</h1>
                      <Link href="/" className="button">
                        Go to endpoints
                      </Link>
                    </main>
                  </Route>
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
