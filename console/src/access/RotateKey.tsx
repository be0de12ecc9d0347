import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Dialog } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { MadeKey, mayOf } from './MadeKey.tsx'

const OVERLAPS = [
  { seconds: 0, words: 'It ends now' },
  { seconds: 3600, words: 'An hour' },
  { seconds: 86_400, words: 'A day' },
  { seconds: 604_800, words: 'A week' },
] as const

interface Props {
  readonly of: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

/** Puts a new key in the place of another, which goes on for as long as is chosen. */
export function RotateKey({ of, onClose }: Props) {
  const queries = useQueryClient()
  const [overlapSeconds, setOverlap] = useState<number>(86_400)
  const rotate = useMutation({
    mutationFn: () => creel.keys.rotate.mutate({ keyId: of.id, overlapSeconds }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  if (rotate.data !== undefined) {
    return <MadeKey value={rotate.data.key} may={mayOf(rotate.data)} onClose={onClose} />
  }
  return (
    <Dialog title={`Rotate ${of.name}`} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          rotate.mutate()
        }}
      >
        <Field label="The old key goes on for" hint="The new one may do the same, from now on.">
          {(ids) => (
            <select
              {...ids}
              className="input"
              value={overlapSeconds}
              onChange={({ target }) => setOverlap(Number(target.value))}
            >
              {OVERLAPS.map(({ seconds, words }) => (
                <option key={seconds} value={seconds}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Problem error={rotate.error} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={rotate.isPending}>
            Make the new key
          </button>
        </div>
      </form>
    </Dialog>
  )
}
