import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CommandLine } from '../parts/CopyButton.tsx'
import { SelectField } from '../parts/Field.tsx'
import { FormDialog } from '../parts/FormFoot.tsx'
import { Problem } from '../parts/Problem.tsx'
import { useCall, useForm } from '../parts/useForm.ts'
import { creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

interface Props {
  readonly endpointId: string
  readonly requestId: number
  readonly onClose: () => void
}

const TIMES = [
  { value: 3600, words: '1 hour' },
  { value: 86_400, words: '1 day' },
  { value: 604_800, words: '7 days' },
  { value: 2_592_000, words: '30 days' },
] as const

/** Makes a link that shows a request to readers without a key, and revokes those that are there. */
export function ShareRequest({ endpointId, requestId, onClose }: Props) {
  const queryKey = ['share links', requestId]
  const links = useQuery({
    queryKey,
    queryFn: () => creel.shareLinks.list.query({ requestId, page: 1, pageSize: 100 }),
  })
  const form = useForm({
    begin: (): { expiresInSeconds: number } => ({ expiresInSeconds: TIMES[2].value }),
    save: (draft) => creel.shareLinks.create.mutate({ endpointId, requestId, ...draft }),
    stale: [queryKey],
    away: () => `A link to #${requestId} was made, and not shown. Revoke it, and make another one.`,
  })
  const [revoked, setRevoked] = useState<readonly string[]>([])
  const revoke = useCall(
    (shareLinkId: string) => creel.shareLinks.revoke.mutate({ shareLinkId }),
    [queryKey],
    (_, id) => setRevoked((before) => [...before, id]),
  )
  const items = links.data?.items ?? []
  return (
    <FormDialog
      title={`Share #${requestId}`}
      showsOnce
      form={form}
      submit="Make a link"
      busy="Make a link"
      cancel="Close"
      onClose={onClose}
    >
      <p className="hint">
        The link shows this request, read-only, to readers without a key. Values with the names of credentials
        are masked. Deliveries and the capture URL are left out.
      </p>
      <SelectField label="Ends after" options={TIMES} {...form.field('expiresInSeconds')} />
      {form.saved !== undefined && !revoked.includes(form.saved.id) && (
        <>
          <CommandLine line={form.saved.url} label="Copy the link" />
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
              <Button look="small" {...revoke.button(id)}>
                Revoke
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Problem error={revoke.error ?? links.error} />
    </FormDialog>
  )
}
