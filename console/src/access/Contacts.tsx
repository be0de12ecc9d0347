import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../parts/Button.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { useForm } from '../parts/useForm.ts'
import { creel } from '../trpc.ts'

/** Contacts that get alerts by mail when no channel takes them. */
export function Contacts() {
  const queries = useQueryClient()
  const contacts = useQuery({ queryKey: ['contacts'], queryFn: () => creel.contacts.list.query({}) })
  const refresh = () => queries.invalidateQueries({ queryKey: ['contacts'] })
  const form = useForm({
    keptAs: 'contact',
    begin: () => ({ email: '', name: '' }),
    save: ({ email, name }) =>
      creel.contacts.add.mutate({
        email: email.trim(),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
      }),
    onSaved: async () => {
      form.change({ email: '', name: '' })
      form.forget()
      await refresh()
    },
  })
  const { change, draft } = form
  const remove = useMutation({
    mutationFn: (contactId: string) => creel.contacts.remove.mutate({ contactId }),
    onSettled: refresh,
  })
  return (
    <section className="card" aria-label="Contacts">
      <h2>Contacts</h2>
      <Problem error={contacts.error ?? remove.error} />
      {contacts.data?.items.length === 0 && (
        <p className="hint">No contacts yet. Contacts get alerts by mail when no alert channel takes them.</p>
      )}
      <ul className="cards">
        {contacts.data?.items.map(({ email, id, name }) => (
          <li key={id} className="item">
            <span className="item-name">{email}</span>
            <span className="item-what">{name}</span>
            <Button
              look="small"
              aria-label={`Remove ${email}`}
              disabled={remove.isPending}
              onClick={() => remove.mutate(id)}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <form className="grid-2" onSubmit={form.submit}>
        <Field label="E-mail" problem={form.at('email')}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              type="email"
              required
              value={draft.email}
              onChange={({ target }) => change({ email: target.value })}
            />
          )}
        </Field>
        <Field label="Name" problem={form.at('name')}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={draft.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
        <div className="form-foot">
          <Button type="submit" disabled={form.isSaving}>
            Add contact
          </Button>
        </div>
      </form>
      <Problems of={form.beside(['email', 'name'])} />
    </section>
  )
}
