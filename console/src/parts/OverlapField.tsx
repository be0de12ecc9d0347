import type { ReactNode } from 'react'
import { SelectField } from './Field.tsx'

const CHOICES = [
  { value: 0, words: 'Ends now' },
  { value: 3600, words: '1 hour' },
  { value: 86_400, words: '1 day' },
  { value: 604_800, words: '1 week' },
  { value: 2_592_000, words: '30 days' },
]

/** The default choice. */
export const OVERLAP_SECONDS = 86_400

interface Props {
  readonly label: string
  readonly hint: ReactNode
  readonly problem: string
  /** In seconds. */
  readonly value: number
  /** The longest choice, in seconds. */
  readonly max: number
  readonly onChange: (seconds: number) => void
}

/** Choice of how long the replaced value stays valid next to the new one. */
export function OverlapField({ max, ...rest }: Props) {
  return <SelectField options={CHOICES.filter(({ value }) => value <= max)} {...rest} />
}
