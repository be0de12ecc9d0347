import { useQuery } from '@tanstack/react-query'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Table } from '../parts/Table.tsx'
import { useCall } from '../parts/useCall.ts'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

/** Signed-in browsers, and a link to sign in another one. */
export function Sessions() {
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => creel.sessions.list.query({}) })
  const invite = useCall(() => creel.sessions.invite.mutate({}))
  const end = useCall((sessionId: string) => creel.sessions.end.mutate({ sessionId }), [['sessions']])
  return (
    <Card
      title="Sessions"
      acts={
        <Button disabled={invite.isPending} onClick={() => invite.mutate()}>
          Create sign-in link
        </Button>
      }
    >
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
              {browserOf(userAgent)} {isCurrent && <span className="badge">this browser</span>}
            </th>
            <td>{role === 'owner' ? 'a link (owner)' : `the key ${keyName ?? ''}`}</td>
            <td title={fullTime(createdAt)}>{ago(createdAt)}</td>
            <td>{ago(seenAt)}</td>
            <td className="end">
              {!isCurrent && (
                <Button look="small" disabled={end.isPending} onClick={() => end.mutate(id)}>
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
