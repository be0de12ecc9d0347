import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Field } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'

const DAY_MS = 86_400_000
const DAYS = [1, 3, 7, 30] as const

/** Starts a comparison with the sender's list: first to count, then to bring what is missing. */
export function ReconcileForm({ endpoint, providerName }: { endpoint: Endpoint; providerName: string }) {
  const queries = useQueryClient()
  // Never kept in the browser, and by the service for this run only.
  const [credential, setCredential] = useState('')
  const [hookUrl, setHookUrl] = useState('')
  const [days, setDays] = useState('3')
  const [types, setTypes] = useState('')
  const isGithub = endpoint.provider === 'github'
  const start = useMutation({
    mutationFn: (dryRun: boolean) =>
      creel.reconcile.start.mutate({
        endpointId: endpoint.id,
        credentials: isGithub ? { token: credential, hookUrl: hookUrl.trim() } : { apiKey: credential },
        since: new Date(Date.now() - Number(days) * DAY_MS).toISOString(),
        types: types.split(',').flatMap((type) => type.trim() || []),
        dryRun,
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['reconciliations', endpoint.id] }),
  })
  const problem = start.error === null ? null : problemOf(start.error)
  const credentialMember = isGithub ? 'credentials/token' : 'credentials/apiKey'
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        start.mutate(true)
      }}
    >
      <p className="hint">
        {providerName} keeps a list of its events.{' '}
        {isGithub
          ? 'GitHub is asked to send the missing ones again.'
          : 'Missing events are captured from that list; actions run as for any capture.'}
      </p>
      <Field
        label={isGithub ? 'Token with write access to the hook' : 'API key with read access to events'}
        problem={problemAt(problem, credentialMember)}
        hint="For this run only: stored encrypted, and erased at its end."
      >
        {(ids) => (
          <input
            {...ids}
            className="input mono"
            type="password"
            autoComplete="off"
            value={credential}
            onChange={({ target }) => setCredential(target.value)}
          />
        )}
      </Field>
      {isGithub && (
        <Field
          label="API URL of the hook"
          problem={problemAt(problem, 'credentials/hookUrl')}
          hint="For example https://api.github.com/repos/octo/app/hooks/1"
        >
          {(ids) => (
            <input
              {...ids}
              className="input mono"
              spellCheck={false}
              value={hookUrl}
              onChange={({ target }) => setHookUrl(target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Period" problem={problemAt(problem, 'since')}>
        {(ids) => (
          <select {...ids} className="input" value={days} onChange={({ target }) => setDays(target.value)}>
            {DAYS.map((number) => (
              <option key={number} value={number}>
                {number === 1 ? 'Last day' : `Last ${number} days`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Event types"
        problem={problemAt(problem, 'types')}
        hint={
          isGithub
            ? 'Optional. Separate several with commas.'
            : 'The types sent to this endpoint, separated by commas. Leave blank for all types of the account.'
        }
      >
        {(ids) => (
          <input
            {...ids}
            className="input mono"
            spellCheck={false}
            value={types}
            onChange={({ target }) => setTypes(target.value)}
          />
        )}
      </Field>
      <Problems of={problemBeside(problem, [credentialMember, 'credentials/hookUrl', 'since', 'types'])} />
      <div className="form-foot">
        <Button type="submit" disabled={start.isPending || credential === ''}>
          Count missing
        </Button>
        <Button
          look="primary"
          disabled={start.isPending || credential === ''}
          onClick={() => start.mutate(false)}
        >
          Fetch missing
        </Button>
      </div>
    </form>
  )
}
