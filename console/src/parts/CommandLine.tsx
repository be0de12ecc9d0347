import { CopyButton } from './CopyButton.tsx'

interface Props {
  readonly line: string
  /** What its button does. */
  readonly label?: string
}

/** A command to run in a shell, or another line to be copied. */
export function CommandLine({ line, label = 'Copy the command' }: Props) {
  return (
    <div className="command">
      <code>{line}</code>
      <CopyButton label={label} text={() => line} />
    </div>
  )
}
