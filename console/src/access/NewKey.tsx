import { KEY_SCOPES, type KeyScope } from '@creel/core/engine/words'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Dialog } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Segments } from '../parts/Segments.tsx'
import { useForm } from '../parts/useForm.ts'
import { endpointsQuery } from '../shell/queries.ts'
import { creel } from '../trpc.ts'
import { MadeKey, mayOf } from './MadeKey.tsx'

/** Scopes of keys in words. */
export const SCOPE_WORDS: Readonly<Record<KeyScope, string>> = {
  read: 'Read',
  write: 'Write',
  admin: 'Admin',
}

const SCOPES = KEY_SCOPES.map((value) => ({ value, words: SCOPE_WORDS[value] }))

const DAY_MS = 86_400_000
const LIVES = [0, 1, 30, 90, 365] as const

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
export function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const endpoints = useQuery(endpointsQuery)
  const form = useForm({
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
    onSaved: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  const { change } = form
  const { days, endpointId, name, networks, scope } = form.draft
  if (form.saved !== undefined) {
    return <MadeKey value={form.saved.key} may={mayOf(form.saved)} onClose={onClose} />
  }
  const networkProblem = form.at('allowedNetworks')
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="form" onSubmit={form.submit}>
        <Field
          label="Name"
          problem={form.at('name')}
          hint="Say what uses the key, e.g. ci or billing-worker."
        >
          {(ids) => (
            <input
              {...ids}
              className="input"
              required
              value={name}
              autoComplete="off"
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
        <div className="field">
          <span aria-hidden="true">Scope</span>
          <Segments
            label="Scope"
            value={scope}
            options={SCOPES}
            onChange={(next) => change({ scope: next })}
          />
        </div>
        <Field label="Endpoint" hint="Limits the key to one endpoint.">
          {(ids) => (
            <select
              {...ids}
              className="input"
              value={scope === 'admin' ? '' : endpointId}
              disabled={scope === 'admin'}
              onChange={({ target }) => change({ endpointId: target.value })}
            >
              <option value="">Whole workspace</option>
              {endpoints.data?.items.map((endpoint) => (
                <option key={endpoint.id} value={endpoint.id}>
                  {endpoint.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Expires">
          {(ids) => (
            <select
              {...ids}
              className="input"
              value={days}
              onChange={({ target }) => change({ days: Number(target.value) })}
            >
              {LIVES.map((life) => (
                <option key={life} value={life}>
                  {life === 0 ? 'Never' : life === 1 ? 'After 1 day' : `After ${life} days`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Allowed networks"
          problem={networkProblem}
          hint="Addresses and networks, e.g. 203.0.113.0/24. Leave blank to allow all."
        >
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={networks}
              autoComplete="off"
              onChange={({ target }) => change({ networks: target.value })}
            />
          )}
        </Field>
        <FormFoot form={form} shown={['name', 'allowedNetworks']} submit="Create key" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
