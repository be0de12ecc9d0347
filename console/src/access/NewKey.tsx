import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Dialog } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Segments } from '../parts/Segments.tsx'
import { endpointsQuery } from '../shell/queries.ts'
import { creel } from '../trpc.ts'
import { problemAt, problemOf } from '../words/problem.ts'
import { MadeKey, mayOf } from './MadeKey.tsx'

const SCOPES = [
  { value: 'read', words: 'Look' },
  { value: 'write', words: 'Look and change' },
  { value: 'admin', words: 'Everything' },
] as const

const DAY_MS = 86_400_000
const LIVES = [0, 1, 30, 90, 365] as const

/** Makes a key, with the bounds that are chosen. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const endpoints = useQuery(endpointsQuery)
  const [name, setName] = useState('')
  const [scope, setScope] = useState<(typeof SCOPES)[number]['value']>('write')
  const [endpointId, setEndpointId] = useState('')
  const [days, setDays] = useState<number>(0)
  const [networks, setNetworks] = useState('')
  const create = useMutation({
    mutationFn: () => {
      const allowedNetworks = networks.split(/[\s,]+/).filter((network) => network !== '')
      return creel.keys.create.mutate({
        name: name.trim(),
        scope,
        ...(endpointId === '' || scope === 'admin' ? {} : { endpointId }),
        ...(days === 0 ? {} : { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() }),
        ...(allowedNetworks.length === 0 ? {} : { allowedNetworks }),
      })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  if (create.data !== undefined) {
    return <MadeKey value={create.data.key} may={mayOf(create.data)} onClose={onClose} />
  }
  const problem = create.error === null ? null : problemOf(create.error)
  const networkProblem = problemAt(problem, 'allowedNetworks')
  const isShownAtField = problemAt(problem, 'name') !== '' || networkProblem !== ''
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="Name" problem={problemAt(problem, 'name')} hint="What uses it: ci, billing-worker…">
          {(ids) => (
            <input
              {...ids}
              className="input"
              required
              value={name}
              autoComplete="off"
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <Segments label="What it may do" value={scope} options={SCOPES} onChange={setScope} />
        <Field label="Endpoint" hint="With one, it sees nothing of the others.">
          {(ids) => (
            <select
              {...ids}
              className="input"
              value={scope === 'admin' ? '' : endpointId}
              disabled={scope === 'admin'}
              onChange={({ target }) => setEndpointId(target.value)}
            >
              <option value="">All of the workspace</option>
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
              onChange={({ target }) => setDays(Number(target.value))}
            >
              {LIVES.map((life) => (
                <option key={life} value={life}>
                  {life === 0 ? 'Never' : life === 1 ? 'In a day' : `In ${life} days`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Only from"
          problem={networkProblem}
          hint="Addresses and networks, like 203.0.113.0/24; empty: from anywhere."
        >
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={networks}
              autoComplete="off"
              onChange={({ target }) => setNetworks(target.value)}
            />
          )}
        </Field>
        {!isShownAtField && <Problem error={create.error} />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending}>
            {create.isPending ? 'Making…' : 'Make the key'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
