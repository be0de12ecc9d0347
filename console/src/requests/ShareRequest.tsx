import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CommandLine } from '../parts/CopyButton.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

interface Props {
  readonly endpointId: string
  readonly requestId: number
  readonly onClose: () => void
}

const TIMES = [
  { seconds: 3600, words: '1 hour' },
  { seconds: 86_400, words: '1 day' },
  { seconds: 604_800, words: '7 days' },
  { seconds: 2_592_000, words: '30 days' },
] as const

/** Makes a link that shows a request to readers without a key, and revokes those that are there. */
export function ShareRequest({ endpointId, requestId, onClose }: Props) {
  const queries = useQueryClient()
  const [expiresInSeconds, setSeconds] = useState<number>(TIMES[2].seconds)
  const queryKey = ['share links', requestId]
  const links = useQuery({
    queryKey,
    queryFn: () => creel.shareLinks.list.query({ requestId, page: 1, pageSize: 100 }),
  })
  const onSettled = () => queries.invalidateQueries({ queryKey })
  const create = useMutation({
    mutationFn: () => creel.shareLinks.create.mutate({ endpointId, requestId, expiresInSeconds }),
    onSettled,
  })
  const revoke = useMutation({
    mutationFn: (shareLinkId: string) => creel.shareLinks.revoke.mutate({ shareLinkId }),
    onSettled,
  })
  const items = links.data?.items ?? []
  const isNewGone = links.data !== undefined && !items.some(({ id }) => id === create.data?.id)
  return (
    <Dialog title={`Share #${requestId}`} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <p className="hint">
          The link shows this request, read-only, to readers without a key. Values with the names of
          credentials are masked. Deliveries and the capture URL are left out.
        </p>
        <Field label="Ends after">
          {(ids) => (
            <select
              {...ids}
              className="select"
              value={expiresInSeconds}
              onChange={({ target }) => setSeconds(Number(target.value))}
            >
              {TIMES.map(({ seconds, words }) => (
                <option key={seconds} value={seconds}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        {create.data !== undefined && !isNewGone && (
          <>
            <CommandLine line={create.data.url} label="Copy the link" />
            <p className="hint">Copy it now: it is shown only once.</p>
          </>
        )}
        {items.length > 0 && (
          <ul className="cards" aria-label="Links of this request">
            {items.map(({ createdAt, createdBy, expiresAt, id }) => (
              <li key={id} className="item">
                <span className="item-what" title={fullTime(createdAt)}>
                  {createdBy ?? 'Made'} {ago(createdAt)}, ends{' '}
                  <span title={fullTime(expiresAt)}>{ago(expiresAt)}</span>
                </span>
                <Button look="small" disabled={revoke.isPending} onClick={() => revoke.mutate(id)}>
                  Revoke
                </Button>
              </li>
            ))}
          </ul>
        )}
        <Problem error={create.error ?? revoke.error ?? links.error} />
        <div className="dialog-foot">
          <Button type="submit" look="primary" disabled={create.isPending}>
            Make a link
          </Button>
          <Button onClick={onClose}>Close</Button>
        </div>
      </form>
    </Dialog>
  )
}
