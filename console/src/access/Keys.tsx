import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'
import { problemAt, problemOf } from '../words/problem.ts'

/** The keys of the workspace; a new one is shown once. */
export function Keys() {
  const queries = useQueryClient()
  const keys = useQuery({ queryKey: ['keys'], queryFn: () => creel.keys.list.query({}) })
  const [isNew, setNew] = useState(false)
  const [revoking, setRevoking] = useState<string>()
  const revoke = useMutation({
    mutationFn: (keyId: string) => creel.keys.revoke.mutate({ keyId }),
    onSettled: async () => {
      setRevoking(undefined)
      await queries.invalidateQueries({ queryKey: ['keys'] })
    },
  })
  return (
    <section className="card" aria-label="Keys">
      <div className="section-head">
        <h2>API keys</h2>
        <button type="button" className="button" onClick={() => setNew(true)}>
          <Plus size={14} aria-hidden="true" /> New key
        </button>
      </div>
      <Problem error={keys.error ?? revoke.error} />
      <div className="table-frame">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Begins with</th>
              <th scope="col">Made</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span className="sr-only">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.data?.items.map(({ createdAt, id, lastUsedAt, name, prefix, revokedAt }) => (
              <tr key={id}>
                <th scope="row">{name}</th>
                <td>
                  <code>{prefix}…</code>
                </td>
                <td title={fullTime(createdAt)}>{ago(createdAt)}</td>
                <td>{ago(lastUsedAt)}</td>
                <td className="end">
                  {revokedAt !== null ? (
                    <span className="hint">revoked {ago(revokedAt)}</span>
                  ) : (
                    <button
                      type="button"
                      className="button small danger"
                      disabled={revoke.isPending}
                      onClick={() => (revoking === id ? revoke.mutate(id) : setRevoking(id))}
                    >
                      {revoking === id ? `Really revoke ${name}` : 'Revoke…'}
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isNew && <NewKey onClose={() => setNew(false)} />}
    </section>
  )
}

function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => creel.keys.create.mutate({ name: name.trim() }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  const made = create.data
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  if (made !== undefined) {
    return (
      <Dialog title="The new key" onClose={onClose} isClosable={false}>
        <p>It is shown only now. Whoever has it may do everything in this workspace.</p>
        <div className="one-time">
          <code>{made.key}</code>
          <CopyButton label="Copy the key" text={() => made.key} />
        </div>
        <div className="dialog-foot">
          <button type="button" className="button primary" onClick={onClose}>
            I have kept it
          </button>
        </div>
      </Dialog>
    )
  }
  const problem = create.error === null ? null : problemOf(create.error)
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
        {problemAt(problem, 'name') === '' && <Problem error={create.error} />}
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
