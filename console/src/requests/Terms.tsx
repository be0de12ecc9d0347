import { X } from 'lucide-react'
import { type Term, withoutTerm } from '../words/grammar.ts'

interface Props {
  readonly search: string
  readonly terms: readonly Term[]
  readonly onChange: (search: string | undefined) => void
}

/** The filters of a search, each with a button to remove it. An invalid filter shows the valid values. */
export function Terms({ search, terms, onChange }: Props) {
  const filters = terms.filter(({ name }) => name !== 'text')
  const problem = filters.find((term) => term.problem !== undefined)?.problem
  if (filters.length === 0) return null
  return (
    <div className="terms">
      {filters.map((term) => (
        <button
          key={term.at}
          type="button"
          data-wrong={term.problem !== undefined}
          title="Remove from search"
          onClick={() => onChange(withoutTerm(search, term) || undefined)}
        >
          <span className="cut">{term.typed}</span>
          <X size={11} />
          <span className="sr-only">, remove</span>
        </button>
      ))}
      {problem !== undefined && (
        <span className="term-problem" role="status">
          {problem}
        </span>
      )}
    </div>
  )
}
