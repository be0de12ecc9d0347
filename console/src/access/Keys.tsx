import { KEY_SCOPES, type KeyScope } from '@creel/core/engine/words'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button, ConfirmButton } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { OVERLAP_SECONDS, overlaps } from '../parts/DurationField.tsx'
import { named, SelectField, TextField } from '../parts/Field.tsx'
import { FormDialog } from '../parts/FormFoot.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem, QueryState } from '../parts/Problem.tsx'
import { SegmentsField } from '../parts/Segments.tsx'
import { Table } from '../parts/Table.tsx'
import { useCall, useForm } from '../parts/useForm.ts'
import { endpointsQuery } from '../queries.ts'
import { type Answers, creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

/** The keys of the workspace, those of agents included; a new one is shown once. */
export function Keys() {
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => creel.keys.list.query({}) })
  const endpoints = useQuery(endpointsQuery)
  const [isNew, setNew] = useState(false)
  const [rotating, setRotating] = useState<Key>()
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
      <QueryState of={keys} />
      <Problem error={revoke.error} />
      {keys.data !== undefined && (
        <Table
          heads={['Name', 'Prefix', 'Scope', 'Created', 'Last used', 'Rotate or revoke']}
          hidden="Rotate or revoke"
        >
          {keys.data.items.map((key) => (
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
                      <Button
                        look="small"
                        onClick={() => setRotating(key)}
                        aria-label={`Rotate… ${key.name}`}
                      >
                        Rotate…
                      </Button>
                    )}{' '}
                    <ConfirmButton
                      look="small danger"
                      disabled={revoke.isPending}
                      aria-label={`Revoke… ${key.name}`}
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
      )}
      {isNew && <NewKey onClose={() => setNew(false)} />}
      {rotating !== undefined && <RotateKey of={rotating} onClose={() => setRotating(undefined)} />}
    </Card>
  )
}

type Key = Answers['keys']['list']['items'][number]

/** Limits of a key other than its scope, in words; undefined when there are none. */
function boundsOf({ endpointId, allowedNetworks, expiresAt }: Key): string | undefined {
  const bounds = [
    endpointId === null ? '' : `only endpoint ${endpointId}`,
    allowedNetworks === null ? '' : `from ${allowedNetworks.join(', ')}`,
    expiresAt === null ? '' : `until ${fullTime(expiresAt)}`,
  ].filter((bound) => bound !== '')
  return bounds.length === 0 ? undefined : bounds.join('; ')
}

function scopeText(key: Key, endpoints: Answers['endpoints']['list'] | undefined) {
  const endpoint = endpoints?.items.find(({ id }) => id === key.endpointId)?.name ?? key.endpointId
  return [SCOPE_WORDS[key.scope], endpoint, key.allowedNetworks === null ? null : 'some networks']
    .filter((part) => part !== null)
    .join(' · ')
}

/** When a key was revoked or expired; undefined while it is good. */
function endOf({ revokedAt, expiresAt }: Key) {
  if (revokedAt !== null) return `revoked ${ago(revokedAt)}`
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? `expired ${ago(expiresAt)}` : undefined
}

const SCOPE_WORDS: Readonly<Record<KeyScope, string>> = {
  read: 'Read',
  write: 'Write',
  admin: 'Admin',
}

const SCOPES = KEY_SCOPES.map((value) => ({ value, words: SCOPE_WORDS[value] }))

const DAY_MS = 86_400_000
const LIVES = [0, 1, 30, 90, 365].map((days) => ({
  value: days,
  words: days === 0 ? 'Never' : days === 1 ? 'After 1 day' : `After ${days} days`,
}))
/** A week. The holders of a key are known, so it can be replaced soon. */
const OVERLAP_SECONDS_MAX = 604_800

const unseen = ({ name, prefix }: Answers['keys']['create']) =>
  `The new key ${prefix}… (${name}) was not shown. Rotate or revoke it.`

interface Draft {
  readonly name: string
  readonly scope: KeyScope
  /** Empty for every endpoint. */
  readonly endpointId: string
  /** 0 for a key that does not expire. */
  readonly days: number
  readonly networks: string
}

/** Creates a key with the chosen limits. */
function NewKey({ onClose }: { onClose: () => void }) {
  const endpoints = useQuery(endpointsQuery)
  const form = useForm({
    keptAs: 'new key',
    begin: (): Draft => ({ name: '', scope: 'write', endpointId: '', days: 0, networks: '' }),
    save: ({ days, endpointId, name, networks, scope }) => {
      const allowedNetworks = networks.split(/[\s,]+/).filter((network) => network !== '')
      return creel.keys.create.mutate({
        name: name.trim(),
        scope,
        ...(endpointId === '' || scope === 'admin' ? {} : { endpointId }),
        ...(days === 0 ? {} : { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() }),
        ...(allowedNetworks.length === 0 ? {} : { allowedNetworks }),
      })
    },
    stale: [['keys']],
    away: unseen,
    ends: 'anew',
    onClose,
  })
  const isAdmin = form.draft.scope === 'admin'
  if (form.saved !== undefined) return <MadeKey made={form.saved} onClose={onClose} />
  return (
    <FormDialog title="New key" form={form} submit="Create key" showsOnce onClose={form.close}>
      <TextField
        label="Name"
        isRequired
        hint="Say what uses the key, e.g. ci or billing-worker."
        {...form.field('name')}
      />
      <SegmentsField label="Scope" options={SCOPES} {...form.field('scope')} />
      <SelectField
        label="Endpoint"
        hint="Limits the key to one endpoint."
        options={named(endpoints.data?.items, 'Whole workspace')}
        {...form.field('endpointId')}
        {...(isAdmin && { value: '', isDisabled: true })}
      />
      <SelectField label="Expires" options={LIVES} {...form.field('days', 'expiresAt')} />
      <TextField
        label="Allowed networks"
        hint="Addresses and networks, e.g. 203.0.113.0/24. Leave blank to allow all."
        {...form.field('networks', 'allowedNetworks')}
      />
    </FormDialog>
  )
}

/** Replaces a key by a new one. The old key stays valid for the chosen overlap. */
function RotateKey({ of, onClose }: { of: Key; onClose: () => void }) {
  const form = useForm({
    begin: () => ({ overlapSeconds: OVERLAP_SECONDS }),
    save: ({ overlapSeconds }) => creel.keys.rotate.mutate({ keyId: of.id, overlapSeconds }),
    stale: [['keys']],
    away: unseen,
  })
  if (form.saved !== undefined) return <MadeKey made={form.saved} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${of.name}`} form={form} submit="Create new key" showsOnce onClose={onClose}>
      <SelectField
        label="Old key keeps working for"
        hint="The new key has the same scope and works at once."
        options={overlaps(OVERLAP_SECONDS_MAX)}
        {...form.field('overlapSeconds')}
      />
    </FormDialog>
  )
}

const MAY = {
  read: 'It can read',
  write: 'It can read and change',
  admin: 'It can do everything, keys included, in',
} as const

interface MadeProps {
  readonly made: Answers['keys']['create']
  readonly onClose: () => void
}

/** A new key. It is shown once, until the user confirms that it is kept. */
function MadeKey({ made: { endpointId, key, scope }, onClose }: MadeProps) {
  return (
    <Dialog title="New key" onClose={onClose} isClosable={false}>
      <p>
        The key is shown only once. {MAY[scope]} {endpointId === null ? 'this workspace' : 'one endpoint'}.
      </p>
      <div className="one-time">
        <code>{key}</code>
        <CopyButton label="Copy key" text={() => key} />
      </div>
      <div className="form-foot">
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      </div>
    </Dialog>
  )
}
