import { Button } from '../parts/Button.tsx'
/** Shown when no stored capture matches the search. */
export function NothingMatches({ onClear }: { onClear: () => void }) {
  return (
    <div className="nothing">
      <h2>No matches</h2>
      <p>New captures that match will appear here.</p>
      <Button onClick={onClear}>Clear search</Button>
    </div>
  )
}
