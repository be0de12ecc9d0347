import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

/** Signed-in browsers, and a link to sign in another one. */
export function Sessions() {
  const queries = useQueryClient()
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => creel.sessions.list.query({}) })
  const invite = useMutation({ mutationFn: () => creel.sessions.invite.mutate({}) })
  const end = useMutation({
    mutationFn: (sessionId: string) => creel.sessions.end.mutate({ sessionId }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  return (
    <section className="card" aria-label="Sessions">
      <div className="section-head">
        <h2>Sessions</h2>
        <Button disabled={invite.isPending} onClick={() => invite.mutate()}>
          Create sign-in link
        </Button>
      </div>
      <Problem error={sessions.error ?? invite.error ?? end.error} />
      {invite.data !== undefined && (
        <div className="one-time">
          <code>{invite.data.url}</code>
          <span className="hint">Works once, {ago(invite.data.expiresAt).replace('in ', 'within ')}</span>
          <CopyButton label="Copy link" text={() => invite.data.url} />
        </div>
      )}
      <div className="table-frame">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Browser</th>
              <th scope="col">Signed in with</th>
              <th scope="col">Since</th>
              <th scope="col">Last seen</th>
              <th scope="col">
                <span className="sr-only">Sign out</span>
              </th>
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </div>
    </section>
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
