import { CopyButton } from './CopyButton.tsx'

/** A command to run in a shell. */
export function CommandLine({ line }: { line: string }) {
  return (
    <div className="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, and must by keyboard */}
      <code tabIndex={0} role="region" aria-label="Command">
        {line}
      </code>
      <CopyButton label="Copy the command" text={() => line} />
    </div>
  )
}
