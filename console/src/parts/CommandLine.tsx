import { CopyButton } from './CopyButton.tsx'

/** A command to run in a shell. */
export function CommandLine({ line }: { line: string }) {
  return (
    <div className="command">
      <code>{line}</code>
      <CopyButton label="Copy the command" text={() => line} />
    </div>
  )
}
