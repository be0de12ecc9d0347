import { Button } from './Button.tsx'
import { ConflictNote } from './ConflictNote.tsx'
import { Problems } from './Problem.tsx'
import type { Form, useRemoval } from './useForm.ts'

interface Props {
  readonly form: Pick<Form<object, unknown>, 'beside' | 'conflict' | 'isSaving'>
  /** Label of the save button. */
  readonly submit: string
  /** Label while it is saved. */
  readonly busy?: string
  readonly look?: 'primary' | 'danger'
  /** Whether saving is disabled. */
  readonly isOff?: boolean
  /** Label of the button that gives up the draft. */
  readonly cancel?: string
  /** Whether there is nothing to give up. */
  readonly isSettled?: boolean
  readonly onCancel: () => void
  /** Undefined if there is nothing to delete. */
  readonly removal?: ReturnType<typeof useRemoval> | undefined
  /** Label of the delete button's confirmation. */
  readonly removalWords?: string
}

/** The end of a form: problems of the whole form; buttons to save, cancel, delete. */
export function FormFoot({
  form,
  submit,
  busy = 'Saving…',
  look = 'primary',
  isOff = false,
  cancel = 'Cancel',
  isSettled = false,
  onCancel,
  removal,
  removalWords = 'Confirm: delete',
}: Props) {
  const wrong = [...form.beside(), ...(removal?.problems ?? [])]
  return (
    <>
      {form.conflict !== null && <ConflictNote conflict={form.conflict} />}
      <Problems of={wrong} />
      <div className="form-foot">
        <Button type="submit" look={look} disabled={form.isSaving || isOff || form.conflict !== null}>
          {form.isSaving ? busy : submit}
        </Button>
        <Button disabled={isSettled} onClick={onCancel}>
          {cancel}
        </Button>
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
