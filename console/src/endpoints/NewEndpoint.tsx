import { useLocation } from 'wouter'
import { SelectField, TextField } from '../parts/Field.tsx'
import { FormDialog } from '../parts/FormFoot.tsx'
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
      creel.endpoints.create.mutate({ name: name.trim() || undefined, ttlSeconds: ttlSeconds || undefined }),
    stale: [['endpoints']],
    away: ({ name }) => `${name} was created.`,
    ends: 'anew',
    onSaved: ({ id }) => {
      onClose()
      navigate(`/e/${id}`)
    },
  })
  return (
    <FormDialog title="New endpoint" form={form} submit="Create endpoint" onClose={onClose}>
      <TextField
        label="Name"
        placeholder="Stripe live"
        hint="Display name. A capture URL is generated."
        {...form.field('name')}
      />
      <SelectField label="Expires" options={LIFETIMES} {...form.field('ttlSeconds')} />
    </FormDialog>
  )
}
