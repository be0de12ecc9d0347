const WORDS = { live: 'Live', connecting: 'Connecting', paused: 'Paused', lost: 'Disconnected' } as const

/** How the stream of captures stands. */
export function Connection({ state }: { state: keyof typeof WORDS }) {
  return (
    <span className="connection" data-state={state} role="status">
      <span className="pulse" aria-hidden="true" />
      {WORDS[state]}
    </span>
  )
}
