import { useQuery } from '@tanstack/react-query'
import { Bones } from '../parts/Bones.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Erasures } from '../privacy/Erasures.tsx'
import { Page } from '../shell/Page.tsx'
import { sessionQuery } from '../shell/queries.ts'
import { Contacts } from './Contacts.tsx'
import { Keys } from './Keys.tsx'
import { Sessions } from './Sessions.tsx'
import { Subscriptions } from './Subscriptions.tsx'

/** Subscriptions of agents; API keys and erasures, if the caller has the scope `admin`; sessions and contacts, if it is an owner, who signed in by a link. */
export function AccessScreen() {
  const session = useQuery(sessionQuery)
  return (
    <Page title="Access">
      <Problem error={session.error} onRetry={() => void session.refetch()} />
      {session.isLoading && <Bones />}
      {session.data !== undefined && session.data.session?.role !== 'owner' && (
        <p className="banner" data-tone="plain">
          This browser is signed in with an API key of the scope <code>{session.data.scope}</code>. To manage
          sessions and contacts, sign in with a link: run <code>creel console</code> on the server.
        </p>
      )}
      {session.data?.scope === 'admin' && <Keys />}
      {session.data?.scope === 'admin' && <Erasures />}
      {session.data !== undefined && <Subscriptions mayEnd={session.data.scope !== 'read'} />}
      {session.data?.session?.role === 'owner' && (
        <>
          <Sessions />
          <Contacts />
        </>
      )}
    </Page>
  )
}
