import { useQuery } from '@tanstack/react-query'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { TextField } from '../parts/Field.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { useCall } from '../parts/useCall.ts'
import { useForm } from '../parts/useForm.ts'
import { creel } from '../trpc.ts'

const KEY = ['contacts']

/** Contacts that get alerts by mail when no channel takes them. */
export function Contacts() {
  const contacts = useQuery({ queryKey: KEY, queryFn: () => creel.contacts.list.query({}) })
  const form = useForm({
    keptAs: 'contact',
    begin: () => ({ email: '', name: '' }),
    save: ({ email, name }) =>
      creel.contacts.add.mutate({
        email: email.trim(),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
      }),
    stale: [KEY],
    onSaved: () => {
      form.change({ email: '', name: '' })
      form.forget()
    },
  })
  const remove = useCall((contactId: string) => creel.contacts.remove.mutate({ contactId }), [KEY])
  return (
    <Card title="Contacts">
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
        <TextField label="E-mail" kind="email" isRequired {...form.field('email')} />
        <TextField label="Name" {...form.field('name')} />
        <div className="form-foot">
          <Button type="submit" disabled={form.isSaving}>
            Add contact
          </Button>
        </div>
      </form>
      <Problems of={form.beside()} />
    </Card>
  )
}
