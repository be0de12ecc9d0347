import { Link } from 'wouter'
import { Clock } from '../parts/Clock.tsx'
import { visible } from '../words/visible.ts'
import { differencesOf, type Entry, sentenceOf } from './auditSentence.ts'

/** Members whose names are in the line of a closed entry. */
const NAMED_MAX = 4

interface Props {
  readonly entry: Entry
  /** Undefined if the endpoint was deleted, or the entry is of none. */
  readonly endpointName: string | undefined
}

/** A sentence that says who changed what; it opens to show the values before and after. */
export function AuditEntry({ entry, endpointName }: Props) {
  const { actor, at, endpointId } = entry
  const sentence = sentenceOf(entry, endpointName)
  const differences = differencesOf(entry)
  return (
    <li className="audit-entry">
      <p>
        <b>{visible(sentence.actor)}</b> {sentence.verb} <b>{visible(sentence.subject)}</b>
        {endpointName !== undefined && endpointName !== sentence.subject && (
          <>
            {' '}
            of{' '}
            <Link className="link" href={`/e/${endpointId}`}>
              {endpointName}
            </Link>
          </>
        )}
      </p>
      <p className="hint">
        <Clock at={at} />
        {actor.address !== null && <span>from {actor.address}</span>}
        <code>{entry.action}</code>
      </p>
      {differences.length > 0 && (
        <details>
          <summary>{summaryOf(entry, differences)}</summary>
          <dl className="audit-diff">
            {differences.map(({ path, before, after }) => (
              <div key={path}>
                <dt>{path}</dt>
                {before !== null && <dd data-change="removed">{visible(before)}</dd>}
                {after !== null && <dd data-change="added">{visible(after)}</dd>}
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  )
}

function summaryOf({ before, after }: Entry, differences: readonly { readonly path: string }[]): string {
  if (before === null || after === null) return 'Details'
  const names = differences.slice(0, NAMED_MAX).map(({ path }) => path)
  const rest = differences.length - names.length
  return `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
