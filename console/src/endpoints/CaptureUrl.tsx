import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CommandLine } from '../parts/CopyButton.tsx'
import { OVERLAP_SECONDS, overlaps } from '../parts/DurationField.tsx'
import { SelectField } from '../parts/Field.tsx'
import { FormDialog } from '../parts/FormFoot.tsx'
import { Card } from '../parts/Page.tsx'
import { toast } from '../parts/Toasts.tsx'
import { useForm } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'

/** 30 days, the API's maximum: senders are slow to change a URL. */
const OVERLAP_SECONDS_MAX = 2_592_000

/** The capture URL, the remaining time of the previous URL, and a button to replace a leaked URL. */
export function CaptureUrl({ endpoint }: { endpoint: Endpoint }) {
  const [isAsking, setAsking] = useState(false)
  const { previousUrlUntil, url } = endpoint
  return (
    <Card title="Capture URL">
      <CommandLine line={url} label="Copy the capture URL" />
      {previousUrlUntil !== null && (
        <p className="hint" title={fullTime(previousUrlUntil)}>
          The previous URL still works. It ends {ago(previousUrlUntil)}.
        </p>
      )}
      <div className="acts">
        <Writes>
          <Button onClick={() => setAsking(true)}>New capture URL…</Button>
        </Writes>
      </div>
      {isAsking && <RotateUrl endpoint={endpoint} onClose={() => setAsking(false)} />}
    </Card>
  )
}

function RotateUrl({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm({
    begin: () => ({ overlapSeconds: OVERLAP_SECONDS }),
    save: ({ overlapSeconds }) =>
      creel.endpoints.rotateUrl.mutate({ endpointId: endpoint.id, overlapSeconds }),
    stale: [['endpoints']],
    tell: (rotated) => {
      queries.setQueryData(['endpoint', endpoint.id], rotated)
      toast('Created a new capture URL')
    },
    onSaved: onClose,
  })
  return (
    <FormDialog
      title={`New capture URL for ${endpoint.name}`}
      form={form}
      submit="Create new URL"
      onClose={onClose}
    >
      <p>
        Use this when the URL has leaked. Settings, captures and actions stay. Give the new URL to your
        senders while the old one still works.
      </p>
      <SelectField
        label="Old URL keeps working for"
        hint={
          endpoint.previousUrlUntil === null
            ? 'After that, the old URL answers 404.'
            : 'After that, the old URL answers 404. An older URL that still works ends at once.'
        }
        options={overlaps(OVERLAP_SECONDS_MAX)}
        {...form.field('overlapSeconds')}
      />
    </FormDialog>
  )
}
