import { useLocation } from 'wouter'
import { Dialog } from '../parts/Dialog.tsx'
import { SelectField, TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { useForm } from '../parts/useForm.ts'
import { creel } from '../trpc.ts'

const LIFETIMES = [
  { value: 0, words: 'Never' },
  { value: 3600, words: 'In 1 hour' },
  { value: 86_400, words: 'In 1 day' },
] as const

/** Creates an endpoint with the typed name and opens it. */
export function NewEndpoint({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const form = useForm({
    keptAs: 'new endpoint',
    begin: (): { name: string; ttlSeconds: number } => ({ name: '', ttlSeconds: 0 }),
    save: ({ name, ttlSeconds }) =>
      creel.endpoints.create.mutate({
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(ttlSeconds === 0 ? {} : { ttlSeconds }),
      }),
    stale: [['endpoints']],
    onSaved: ({ id }) => {
      form.forget()
      onClose()
      navigate(`/e/${id}`)
    },
  })
  return (
    <Dialog title="New endpoint" onClose={onClose}>
      <form className="form" onSubmit={form.submit}>
        <TextField
          label="Name"
          placeholder="Stripe live"
          hint="Display name. A capture URL is generated."
          {...form.field('name')}
        />
        <SelectField label="Expires" options={LIFETIMES} {...form.field('ttlSeconds')} />
        <FormFoot form={form} submit="Create endpoint" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
