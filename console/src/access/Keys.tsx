import type { KeyScope } from '@creel/core/engine/words'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button, ConfirmButton } from '../parts/Button.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Table } from '../parts/Table.tsx'
import { useCall } from '../parts/useForm.ts'
import { endpointsQuery } from '../queries.ts'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'
import { NewKey, RotateKey, SCOPE_WORDS } from './NewKey.tsx'

/** The keys of the workspace, those of agents included; a new one is shown once. */
export function Keys() {
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => creel.keys.list.query({}) })
  const endpoints = useQuery(endpointsQuery)
  const [isNew, setNew] = useState(false)
  const [rotating, setRotating] = useState<{ readonly id: string; readonly name: string }>()
  const revoke = useCall((keyId: string) => creel.keys.revoke.mutate({ keyId }), [['keys']])
  return (
    <Card
      title="API keys"
      name="Keys"
      acts={
        <Button onClick={() => setNew(true)}>
          <Plus size={14} /> New key
        </Button>
      }
    >
      <Problem error={keys.error ?? revoke.error} />
      <Table
        heads={['Name', 'Prefix', 'Scope', 'Created', 'Last used', 'Rotate or revoke']}
        hidden="Rotate or revoke"
      >
        {keys.data?.items.map((key) => (
          <tr key={key.id}>
            <th scope="row">
              {key.name}
              {key.clientId !== null && <div className="hint">Agent, {key.clientId}</div>}
            </th>
            <td>
              <code>{key.prefix}…</code>
            </td>
            <td title={boundsOf(key)}>{scopeText(key, endpoints.data)}</td>
            <td title={fullTime(key.createdAt)}>{ago(key.createdAt)}</td>
            <td>{ago(key.lastUsedAt)}</td>
            <td className="end">
              {endOf(key) !== undefined ? (
                <span className="hint">{endOf(key)}</span>
              ) : (
                <>
                  {key.replacedById === null && key.kind === 'key' && (
                    <Button look="small" onClick={() => setRotating(key)}>
                      Rotate…
                    </Button>
                  )}{' '}
                  <ConfirmButton
                    look="small danger"
                    disabled={revoke.isPending}
                    confirm={`Confirm: revoke ${key.name}`}
                    onConfirm={() => revoke.mutate(key.id)}
                  >
                    Revoke…
                  </ConfirmButton>
                </>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {isNew && <NewKey onClose={() => setNew(false)} />}
      {rotating !== undefined && <RotateKey of={rotating} onClose={() => setRotating(undefined)} />}
    </Card>
  )
}

interface Bounds {
  readonly endpointId: string | null
  readonly allowedNetworks: readonly string[] | null
  readonly expiresAt: string | null
}

/** Limits of a key other than its scope, in words; undefined when there are none. */
function boundsOf({ endpointId, allowedNetworks, expiresAt }: Bounds): string | undefined {
  const bounds = [
    endpointId === null ? '' : `only endpoint ${endpointId}`,
    allowedNetworks === null ? '' : `from ${allowedNetworks.join(', ')}`,
    expiresAt === null ? '' : `until ${fullTime(expiresAt)}`,
  ].filter((bound) => bound !== '')
  return bounds.length === 0 ? undefined : bounds.join('; ')
}

function scopeText(
  key: Bounds & { readonly scope: KeyScope },
  endpoints: { readonly items: readonly { readonly id: string; readonly name: string }[] } | undefined,
) {
  const endpoint = endpoints?.items.find(({ id }) => id === key.endpointId)?.name ?? key.endpointId
  return [SCOPE_WORDS[key.scope], endpoint, key.allowedNetworks === null ? null : 'some networks']
    .filter((part) => part !== null)
    .join(' · ')
}

/** When a key was revoked or expired; undefined while it is good. */
function endOf({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }) {
  if (revokedAt !== null) return `revoked ${ago(revokedAt)}`
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? `expired ${ago(expiresAt)}` : undefined
}
