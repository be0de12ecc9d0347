import { ShieldAlert, ShieldCheck, ShieldOff, ShieldX } from 'lucide-react'
import type { RequestSummary } from '../trpc.ts'

const MARKS = {
  verified: ShieldCheck,
  failed: ShieldX,
  unsigned: ShieldOff,
  unverifiable: ShieldAlert,
} as const

/** Labels of the verdicts. */
export const VERDICT_WORDS = {
  verified: 'Signature verified',
  failed: 'Signature failed',
  unsigned: 'Not signed',
  unverifiable: 'Cannot be verified',
} as const

/** A verdict as a shield; a blank of the same size if nothing was checked. */
export function VerdictMark({
  verification,
  size = 14,
}: {
  verification: RequestSummary['verification']
  size?: number
}) {
  if (verification === null) return <span className="verdict" />
  const { verdict, note } = verification
  const Icon = MARKS[verdict]
  return (
    <span className="verdict" data-verdict={verdict} title={`${VERDICT_WORDS[verdict]}: ${note}`}>
      <Icon size={size} strokeWidth={2} />
      <span className="sr-only">{VERDICT_WORDS[verdict]}</span>
    </span>
  )
}
