import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { TextField } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { useSettled } from '../parts/useSettled.ts'
import { SamplePicker, useSample } from '../requests/SamplePicker.tsx'
import { type Answers, creel, type Endpoint } from '../trpc.ts'
import { sampleOf } from './storingDraft.ts'

interface Props {
  readonly endpointId: string
  readonly headers: readonly string[]
  readonly rules: Endpoint['storeRules']
}

/** Shows what would be stored of a captured or a pasted request under the unsaved settings; nothing is saved. */
export function StoringPreview({ endpointId, headers, rules }: Props) {
  const sample = useSample(endpointId)
  const [pasted, setPasted] = useState('')
  const isPasted = pasted.trim() !== ''
  const settled = useSettled(JSON.stringify({ headers, rules, pasted }))
  const preview = useQuery({
    queryKey: ['storing preview', endpointId, isPasted ? 0 : sample.id, settled],
    queryFn: () =>
      creel.endpoints.previewStoring.mutate({
        endpointId,
        dropHeaders: [...headers],
        storeRules: rules,
        ...(isPasted ? { sample: sampleOf(pasted) } : { requestId: sample.id }),
      }),
    enabled: settled !== undefined && (isPasted || sample.id > 0),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return (
    <div className="two">
      <div className="form">
        {isPasted || sample.isNone ? <b>Preview on a pasted request</b> : <SamplePicker sample={sample} />}
        <TextField
          label="Paste a request"
          rows={4}
          value={pasted}
          hint="A body, or JSON with method, path, query, headers and body. Empty: a captured request."
          onChange={setPasted}
        />
        <Problem error={sample.error ?? preview.error} />
      </div>
      {preview.data !== undefined && preview.error === null && <Outcome preview={preview.data} />}
    </div>
  )
}

type Preview = Answers['endpoints']['previewStoring']

function Outcome({ preview }: { readonly preview: Preview }) {
  const { redacted, redactedPaths, redactionFault, stored, warnings } = preview
  return (
    <div className="field" role="status" aria-label="What would be stored">
      <span className="label">
        {redacted ? `Taken out: ${redactedPaths.join(', ')}` : 'Nothing is taken out'}
      </span>
      {redactionFault !== null && <p className="problem">Only a trace would be stored: {redactionFault}</p>}
      {warnings.map((warning) => (
        <p key={warning} className="banner">
          {warning}
        </p>
      ))}
      <p className="sees">{wordsOf(stored)}</p>
    </div>
  )
}

function wordsOf({ body, headers, method, path, queryString }: Preview['stored']): string {
  const target = `${path === '' ? '/' : path}${queryString === null ? '' : `?${queryString}`}`
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${target}`, ...fields, '', body ?? ''].join('\n')
}
