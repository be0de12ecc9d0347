import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { creel } from '../trpc.ts'

interface Props {
  readonly problem: string
  readonly chosen: readonly string[]
  readonly onChange: (chosen: string[]) => void
}

/** Choice of the contacts that get alarms by mail, in addition to the alert channels. */
export function WhoIsTold({ problem, chosen, onChange }: Props) {
  const contacts = useQuery({ queryKey: ['contacts'], queryFn: () => creel.contacts.list.query({}) })
  const items = contacts.data?.items ?? []
  return (
    <fieldset className="field">
      <legend className="label">Notify</legend>
      <p className="hint">
        The{' '}
        <Link className="link" href="/alerts">
          alert channels
        </Link>{' '}
        with watchdog events
        {items.length > 0 ? ', and by mail:' : '.'}
      </p>
      <div className="acts">
        {items.map(({ email, id, name }) => (
          <label key={id} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
            {name ?? email}
          </label>
        ))}
      </div>
      {problem !== '' && <p className="field-problem">{problem}</p>}
    </fieldset>
  )
}
