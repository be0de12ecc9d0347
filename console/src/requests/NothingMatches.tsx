/** Shown when no stored capture matches the search. */
export function NothingMatches({ onClear }: { onClear: () => void }) {
  return (
    <div className="nothing">
      <h2>Nothing matches</h2>
      <p>Captures that match appear here as they arrive.</p>
      <button type="button" className="button" onClick={onClear}>
        Clear the search
      </button>
    </div>
  )
}
