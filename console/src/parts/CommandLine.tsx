import { CopyButton } from './CopyButton.tsx'

interface Props {
  readonly line: string
  /** Label of the copy button. */
  readonly label?: string
}

/** A command for a shell, or another line to copy. */
export function CommandLine({ line, label = 'Copy the command' }: Props) {
  return (
    <div className="command">
      <code>{line}</code>
      <CopyButton label={label} text={() => line} />
    </div>
  )
}
