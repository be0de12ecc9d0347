import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'

/** Whom alerts are mailed to when no channel is there for them. */
export function Contacts() {
  const queries = useQueryClient()
  const contacts = useQuery({ queryKey: ['contacts'], queryFn: () => creel.contacts.list.query({}) })
  const [draft, setDraft] = useState({ email: '', name: '' })
  const refresh = () => queries.invalidateQueries({ queryKey: ['contacts'] })
  const add = useMutation({
    mutationFn: () =>
      creel.contacts.add.mutate({
        email: draft.email.trim(),
        ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
      }),
    onSuccess: async () => {
      setDraft({ email: '', name: '' })
      await refresh()
    },
  })
  const remove = useMutation({
    mutationFn: (contactId: string) => creel.contacts.remove.mutate({ contactId }),
    onSettled: refresh,
  })
  const problem = add.error === null ? null : problemOf(add.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  return (
    <section className="card" aria-label="Contacts">
      <h2>Contacts</h2>
      <Problem error={contacts.error ?? remove.error} />
      {contacts.data?.items.length === 0 && (
        <p className="hint">Nobody yet. Alerts that no channel takes are mailed to contacts.</p>
      )}
      <ul className="cards">
        {contacts.data?.items.map(({ email, id, name }) => (
          <li key={id} className="item">
            <span className="item-name">{email}</span>
            <span className="item-what">{name}</span>
            <button
              type="button"
              className="button small"
              aria-label={`Remove ${email}`}
              disabled={remove.isPending}
              onClick={() => remove.mutate(id)}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <form className="grid-2" onSubmit={submit}>
        <Field label="E-mail" problem={problemAt(problem, 'email')}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              type="email"
              required
              value={draft.email}
              onChange={({ target }) => setDraft({ ...draft, email: target.value })}
            />
          )}
        </Field>
        <Field label="Name" problem={problemAt(problem, 'name')}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={draft.name}
              onChange={({ target }) => setDraft({ ...draft, name: target.value })}
            />
          )}
        </Field>
        <div className="form-foot">
          <button type="submit" className="button" disabled={add.isPending}>
            Add the contact
          </button>
        </div>
      </form>
      {problemBeside(problem, ['email', 'name']).map((detail) => (
        <p key={detail} className="problem" role="alert">
          {detail}
        </p>
      ))}
    </section>
  )
}
