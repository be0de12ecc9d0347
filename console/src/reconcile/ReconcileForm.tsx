import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { SelectField, TextField } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { useForm } from '../parts/useForm.ts'
import { creel, type Endpoint } from '../trpc.ts'

const DAY_MS = 86_400_000
const PERIODS = [1, 3, 7, 30].map((days) => ({
  value: days,
  words: days === 1 ? 'Last day' : `Last ${days} days`,
}))

/** Starts a comparison with the sender's list: first to count, then to bring what is missing. */
export function ReconcileForm({ endpoint, providerName }: { endpoint: Endpoint; providerName: string }) {
  // Never kept in the browser, and by the service for this run only.
  const [credential, setCredential] = useState('')
  const isGithub = endpoint.provider === 'github'
  const form = useForm({
    keptAs: `reconcile ${endpoint.id}`,
    begin: () => ({ hookUrl: '', days: 3, types: '', dryRun: true }),
    save: ({ days, dryRun, hookUrl, types }) =>
      creel.reconcile.start.mutate({
        endpointId: endpoint.id,
        credentials: isGithub ? { token: credential, hookUrl: hookUrl.trim() } : { apiKey: credential },
        since: new Date(Date.now() - days * DAY_MS).toISOString(),
        types: types.split(',').flatMap((type) => type.trim() || []),
        dryRun,
      }),
    stale: [['reconciliations', endpoint.id]],
  })
  const isOff = form.isSaving || credential === ''
  return (
    <form className="form" onSubmit={form.submit}>
      <p className="hint">
        {providerName} keeps a list of its events.{' '}
        {isGithub
          ? 'GitHub is asked to send the missing ones again.'
          : 'Missing events are captured from that list; actions run as for any capture.'}
      </p>
      <TextField
        label={isGithub ? 'Token with write access to the hook' : 'API key with read access to events'}
        kind="password"
        hint="For this run only: stored encrypted, and erased at its end."
        value={credential}
        problem={form.at(isGithub ? 'credentials/token' : 'credentials/apiKey')}
        onChange={setCredential}
      />
      {isGithub && (
        <TextField
          label="API URL of the hook"
          kind="code"
          hint="For example https://api.github.com/repos/octo/app/hooks/1"
          {...form.field('hookUrl', 'credentials/hookUrl')}
        />
      )}
      <SelectField label="Period" options={PERIODS} {...form.field('days', 'since')} />
      <TextField
        label="Event types"
        kind="code"
        hint={
          isGithub
            ? 'Optional. Separate several with commas.'
            : 'The types sent to this endpoint, separated by commas. Leave blank for all types of the account.'
        }
        {...form.field('types')}
      />
      <Problems of={form.beside()} />
      <div className="form-foot">
        <Button type="submit" disabled={isOff}>
          Count missing
        </Button>
        <Button look="primary" disabled={isOff} onClick={() => form.submit(undefined, { dryRun: false })}>
          Fetch missing
        </Button>
      </div>
    </form>
  )
}
