const WORDS = { live: 'Live', connecting: 'Connecting', paused: 'Paused', lost: 'Disconnected' } as const

/** State of the stream of captures. */
export function Connection({ state }: { state: keyof typeof WORDS }) {
  return (
    <span className="connection" data-state={state} role="status">
      <span className="pulse" aria-hidden="true" />
      {WORDS[state]}
    </span>
  )
}
