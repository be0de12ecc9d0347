import type { ActionDraft } from './draft.ts'

interface Props {
  readonly draft: ActionDraft
  readonly onChange: (change: Partial<ActionDraft>) => void
}

/** Choice of the parts of a captured URL that follow the URL of the action. */
export function Appended({ draft, onChange }: Props) {
  return (
    <fieldset className="field">
      <legend className="label">Append to the URL</legend>
      <div className="acts">
        <label className="check">
          <input
            type="checkbox"
            checked={draft.appendPath}
            onChange={({ target }) => onChange({ appendPath: target.checked })}
          />
          Captured path
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={draft.appendQuery}
            onChange={({ target }) => onChange({ appendQuery: target.checked })}
          />
          Captured query
        </label>
      </div>
    </fieldset>
  )
}
