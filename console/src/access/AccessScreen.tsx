import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { TextField } from '../parts/Field.tsx'
import { Card, Page } from '../parts/Page.tsx'
import { Problem, Problems, QueryState } from '../parts/Problem.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { Table } from '../parts/Table.tsx'
import { useCall, useForm } from '../parts/useForm.ts'
import { Erasures } from '../privacy/Erasures.tsx'
import { sessionQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'
import { Keys } from './Keys.tsx'

/** Subscriptions of agents; API keys and erasures, if the caller has the scope `admin`; sessions and contacts, if it is an owner, who signed in by a link. */
export function AccessScreen() {
  const session = useQuery(sessionQuery)
  return (
    <Page title="Access">
      <QueryState of={session} />
      {session.data !== undefined && session.data.session?.role !== 'owner' && (
        <p className="banner" data-tone="plain">
          <span>
            This browser is signed in with an API key of the scope <code>{session.data.scope}</code>. To
            manage sessions and contacts, sign in with a link: run <code>creel console</code> on the server.
          </span>
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

const KEY = ['contacts']

/** Contacts that get alerts by mail when no channel takes them. */
function Contacts() {
  const contacts = useQuery({ queryKey: KEY, queryFn: () => creel.contacts.list.query({}) })
  const form = useForm({
    keptAs: 'contact',
    begin: () => ({ email: '', name: '' }),
    save: ({ email, name }) =>
      creel.contacts.add.mutate({ email: email.trim(), name: name.trim() || undefined }),
    stale: [KEY],
    ends: 'anew',
  })
  const remove = useCall((contactId: string) => creel.contacts.remove.mutate({ contactId }), [KEY])
  return (
    <Card title="Contacts">
      <Problem error={contacts.error ?? remove.error} />
      {contacts.data?.items.length === 0 && (
        <p className="hint">No contacts yet. Contacts get alerts by mail when no alert channel takes them.</p>
      )}
      <ul className="cards">
        {contacts.data?.items.map(({ email, id, name }) => (
          <li key={id} className="item">
            <span className="item-name">{email}</span>
            <span className="item-what">{name}</span>
            <Button look="small" aria-label={`Remove ${email}`} {...remove.button(id)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <form className="row-2" onSubmit={form.submit}>
        <TextField label="E-mail" kind="email" isRequired {...form.field('email')} />
        <TextField label="Name" {...form.field('name')} />
        <div className="form-foot">
          <Button type="submit" disabled={form.isSaving}>
            Add contact
          </Button>
        </div>
      </form>
      <Problems of={form.beside()} />
    </Card>
  )
}

/** Signed-in browsers, and a link to sign in another one. */
function Sessions() {
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => creel.sessions.list.query({}) })
  const invite = useCall(() => creel.sessions.invite.mutate({}))
  const end = useCall((sessionId: string) => creel.sessions.end.mutate({ sessionId }), [['sessions']])
  return (
    <Card title="Sessions" acts={<Button {...invite.button()}>Create sign-in link</Button>}>
      <Problem error={sessions.error ?? invite.error ?? end.error} />
      {invite.data !== undefined && (
        <div className="one-time">
          <code>{invite.data.url}</code>
          <span className="hint">Works once, {ago(invite.data.expiresAt).replace('in ', 'within ')}</span>
          <CopyButton label="Copy link" text={() => invite.data.url} />
        </div>
      )}
      <Table heads={['Browser', 'Signed in with', 'Since', 'Last seen', 'Sign out']} hidden="Sign out">
        {sessions.data?.items.map(({ createdAt, id, isCurrent, keyName, role, seenAt, userAgent }) => (
          <tr key={id}>
            <th scope="row">
              {browserOf(userAgent)} {isCurrent && <Badge>this browser</Badge>}
            </th>
            <td>{role === 'owner' ? 'a link (owner)' : `the key ${keyName ?? ''}`}</td>
            <td title={fullTime(createdAt)}>{ago(createdAt)}</td>
            <td>{ago(seenAt)}</td>
            <td className="end">
              {!isCurrent && (
                <Button look="small" {...end.button(id)}>
                  Sign out
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  )
}

/** Name of a browser and its system; the raw header if neither is recognised. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown'
  const browser = /(Edg|OPR|Firefox|HeadlessChrome|Chrome|Safari)\//.exec(userAgent)?.[1]
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(userAgent)?.[1]
  return browser === undefined
    ? userAgent.slice(0, 60)
    : `${browser}${system === undefined ? '' : ` on ${system}`}`
}

const REFRESH_MS = 10_000
const SHOWN = 100

/** Callbacks of agents that are sent events. `mayEnd`: whether the caller may end them. */
function Subscriptions({ mayEnd }: { readonly mayEnd: boolean }) {
  const subscriptions = useQuery({
    queryKey: ['subscriptions'],
    queryFn: () => creel.subscriptions.list.query({ pageSize: SHOWN }),
    refetchInterval: REFRESH_MS,
  })
  const end = useCall(
    (subscriptionId: string) => creel.subscriptions.end.mutate({ subscriptionId }),
    [['subscriptions']],
  )
  const { items = [], totalCount = 0 } = subscriptions.data ?? {}
  return (
    <Card title="Subscriptions">
      <Problem error={subscriptions.error ?? end.error} />
      {subscriptions.data !== undefined && items.length === 0 && (
        <p className="hint">No subscriptions. An agent subscribes at /mcp with a key that may write.</p>
      )}
      {items.length > 0 && (
        <Table heads={['Event', 'Key', 'Sent to', 'Last result', 'Until', 'End']} hidden="End">
          {items.map((one) => (
            <tr key={one.id}>
              <th scope="row">
                <Link className="link" href={`/e/${one.endpointId}`}>
                  {one.name}
                </Link>
              </th>
              <td>{one.key.name}</td>
              <td>{one.host}</td>
              <td>{resultOf(one)}</td>
              <td title={fullTime(one.expiresAt)}>{ago(one.expiresAt)}</td>
              <td className="end">
                {mayEnd && (
                  <Button look="small" {...end.button(one.id)}>
                    End
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {totalCount > items.length && (
        <p className="hint">
          The newest {SHOWN} of {totalCount}. <code>creel subscriptions list</code> shows all.
        </p>
      )}
    </Card>
  )
}

const FAILURES: Readonly<Record<string, string>> = {
  connection_refused: 'not reached',
  timeout: 'no answer in time',
  tls_error: 'certificate not trusted',
  http_4xx: 'refused (4xx)',
  http_5xx: 'failed (5xx)',
  challenge_failed: 'challenge not repeated',
}

type Listed = Awaited<ReturnType<typeof creel.subscriptions.list.query>>['items'][number]

function resultOf({ status, waitingCount }: Listed): string {
  const waiting = waitingCount === 0 ? '' : `, ${waitingCount} waiting`
  if (status.lastError !== null) return `${FAILURES[status.lastError] ?? status.lastError}${waiting}`
  if (status.throttled) return `waits for the next minute${waiting}`
  return status.lastDeliveryAt === null
    ? `nothing sent yet${waiting}`
    : `sent ${ago(status.lastDeliveryAt)}${waiting}`
}
