import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import { creel } from '../trpc.ts'
import { problemAt, problemOf } from '../words/problem.ts'

const LIFETIMES = [
  { seconds: 0, words: 'Never' },
  { seconds: 3600, words: 'In 1 hour' },
  { seconds: 86_400, words: 'In 1 day' },
] as const

/** Creates an endpoint with the typed name and opens it. */
export function NewEndpoint({ onClose }: { onClose: () => void }) {
  const [name, setName, forget] = usePersisted('new endpoint', '')
  const [ttlSeconds, setTtlSeconds] = useState(0)
  const [, navigate] = useLocation()
  const queries = useQueryClient()
  const create = useMutation({
    mutationFn: () =>
      creel.endpoints.create.mutate({
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(ttlSeconds === 0 ? {} : { ttlSeconds }),
      }),
    onSuccess: async ({ id }) => {
      forget()
      onClose()
      await queries.invalidateQueries({ queryKey: ['endpoints'] })
      navigate(`/e/${id}`)
    },
  })
  const problem = create.error === null ? null : problemOf(create.error)
  const nameProblem = problemAt(problem, 'name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Dialog title="New endpoint" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="Name" problem={nameProblem} hint="Display name. A capture URL is generated.">
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={name}
              onChange={(event) => setName(event.target.value)}
              placeholder="Stripe live"
              autoComplete="off"
            />
          )}
        </Field>
        <Field label="Expires">
          {(ids) => (
            <select
              {...ids}
              className="select"
              value={ttlSeconds}
              onChange={(event) => setTtlSeconds(Number(event.target.value))}
            >
              {LIFETIMES.map(({ seconds, words }) => (
                <option key={seconds} value={seconds}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        {nameProblem === '' && <Problem error={create.error} />}
        <div className="dialog-foot">
          <Button type="submit" look="primary" disabled={create.isPending}>
            {create.isPending ? 'Creating…' : 'Create endpoint'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
