import { Button } from './Button.tsx'
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
        <Button type="submit" look="primary" disabled={form.isSaving || isOff || form.conflict !== null}>
          {form.isSaving ? 'Saving…' : submit}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        <span className="grow" />
        {removal !== undefined && (
          <Button look="danger" onClick={removal.press}>
            {removal.isAsked ? removalWords : 'Delete…'}
          </Button>
        )}
      </div>
    </>
  )
}
