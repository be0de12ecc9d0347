import { ConflictNote } from './ConflictNote.tsx'
import { Problems } from './Problem.tsx'
import type { Form, useRemoval } from './useForm.ts'

interface Props {
  readonly form: Pick<Form<object, unknown>, 'beside' | 'conflict' | 'isSaving'>
  /** Members whose problems are shown at their fields. */
  readonly shown: readonly string[]
  /** Label of the save button. */
  readonly submit: string
  /** Whether saving is disabled. */
  readonly isOff?: boolean
  readonly onCancel: () => void
  /** Undefined if there is nothing to delete. */
  readonly removal?: ReturnType<typeof useRemoval> | undefined
  /** Label of the delete button's confirmation. */
  readonly removalWords?: string
}

/** The end of a form: problems of the whole form; buttons to save, cancel, delete. */
export function FormFoot({
  form,
  shown,
  submit,
  isOff = false,
  onCancel,
  removal,
  removalWords = 'Confirm: delete',
}: Props) {
  const wrong = [...form.beside(shown), ...(removal?.problems ?? [])]
  return (
    <>
      {form.conflict !== null && <ConflictNote conflict={form.conflict} />}
      <Problems of={wrong} />
      <div className="form-foot">
        <button
          type="submit"
          className="button primary"
          disabled={form.isSaving || isOff || form.conflict !== null}
        >
          {form.isSaving ? 'Saving…' : submit}
        </button>
        <button type="button" className="button" onClick={onCancel}>
          Cancel
        </button>
        <span className="grow" />
        {removal !== undefined && (
          <button type="button" className="button danger" onClick={removal.press}>
            {removal.isAsked ? removalWords : 'Delete…'}
          </button>
        )}
      </div>
    </>
  )
}
