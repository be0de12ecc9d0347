import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../parts/Problem.tsx'
import { sectionOf } from './readiness.ts'

/** The section of the runbook at an address (`docs/runbook.md#creeldown`), read when it is opened. */
export function Runbook({ address }: { readonly address: string }) {
  const [isOpen, setOpen] = useState(false)
  const [file = '', section = ''] = address.split('#')
  const page = useQuery({
    queryKey: ['page', file],
    queryFn: async () => (await fetch(`/${file}`)).text(),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <details className="runbook" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What to do</summary>
      <Problem error={page.error} />
      <p>{page.data !== undefined && sectionOf(page.data, section)}</p>
      <a className="link" href={`/${file}`} target="_blank" rel="noreferrer">
        Runbook
      </a>
    </details>
  )
}
