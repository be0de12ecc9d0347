interface Props {
  readonly text: string
  /** The text to mark; empty marks nothing. */
  readonly by: string
  /** Whether it occurs in a part that is not shown. */
  readonly isElsewhere?: boolean
}

/** A text with each place of the searched text marked, without case. */
export function Marked({ text, by, isElsewhere = false }: Props) {
  if (by === '') return text
  const [lower, part] = [text.toLowerCase(), by.toLowerCase()]
  const pieces = []
  let from = 0
  // A letter whose lower case is longer would shift the places.
  for (let at = 0; lower.length === text.length; from = at + part.length) {
    at = lower.indexOf(part, from)
    if (at < 0) break
    pieces.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + part.length)}</mark>)
  }
  return (
    <>
      {pieces}
      {text.slice(from)}
      {isElsewhere && <i> · found further on</i>}
    </>
  )
}
