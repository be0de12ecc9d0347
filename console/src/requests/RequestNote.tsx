import { StickyNote } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button } from '../parts/Button.tsx'
import { TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { isFocusLost } from '../parts/shortcuts.ts'
import { useForm } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { creel, type RequestSummary } from '../trpc.ts'
import { visible } from '../words/visible.ts'

interface Props {
  readonly endpointId: string
  readonly request: Pick<RequestSummary, 'id' | 'note'>
  readonly isEdited: boolean
  readonly onEdit: (isEdited: boolean) => void
  readonly onNoted: (row: RequestSummary) => void
}

/** The note of a request, if it has one, or the form that writes it. */
export function RequestNote({ isEdited, onEdit, ...props }: Props) {
  const { note } = props.request
  useFocusBack(isEdited, note)
  if (isEdited) return <NoteForm {...props} onClose={() => onEdit(false)} />
  if (note === null) return null
  return (
    <section className="note" aria-label="Note">
      <StickyNote size={14} aria-hidden />
      <p>{visible(note)}</p>
      <Writes>
        <Button look="quiet small" onClick={() => onEdit(true)} aria-label="Edit the note">
          Edit
        </Button>
      </Writes>
    </section>
  )
}

/** Without the focus, letters that are typed would run as shortcuts of the request. */
const focusText = (form: HTMLFormElement | null): void => form?.querySelector('textarea')?.focus()

/** Gives the focus back to the button of the note when its form has closed, and to *Edit* once the note is there. */
function useFocusBack(isEdited: boolean, note: string | null): void {
  const isDue = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a note that comes or goes changes the button
  useEffect(() => {
    if (isEdited) isDue.current = true
    else if (isDue.current && isFocusLost())
      document.querySelector<HTMLElement>('[aria-label="Edit the note"], [aria-label="Add a note"]')?.focus()
  }, [isEdited, note])
}

type FormProps = Omit<Props, 'isEdited' | 'onEdit'> & { readonly onClose: () => void }

function NoteForm({ endpointId, request, onNoted, onClose }: FormProps) {
  const ids = { endpointId, requestId: request.id }
  const form = useForm({
    keptAs: `note:${request.id}`,
    begin: () => ({ note: request.note ?? '' }),
    stored: async () => ({ note: (await creel.requests.get.query({ ...ids, bodyBytesMax: 0 })).note ?? '' }),
    save: ({ note }) => creel.requests.update.mutate({ ...ids, note: note.trim() === '' ? null : note }),
    stale: [['request', endpointId, request.id]],
    tell: onNoted,
    ends: 'closed',
    onClose,
  })
  const box = useRef<HTMLFormElement>(null)
  useEffect(() => focusText(box.current), [])
  return (
    <form
      ref={box}
      className="form note-form"
      onSubmit={(event) => {
        form.submit(event)
        focusText(event.currentTarget)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.nativeEvent.isComposing) return
        // Not the request.
        event.preventDefault()
        form.close()
      }}
    >
      <TextField
        label="Note"
        hint="For people, in plain text. Empty removes it."
        rows={3}
        {...form.field('note')}
      />
      <FormFoot form={form} submit="Save" isOff={!form.isChanged} />
    </form>
  )
}
