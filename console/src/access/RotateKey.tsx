import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { OVERLAP_SECONDS, OverlapField } from '../parts/OverlapField.tsx'
import { Problem } from '../parts/Problem.tsx'
import { creel } from '../trpc.ts'
import { MadeKey, mayOf } from './MadeKey.tsx'

/** A week. The holders of a key are known, so it can be replaced soon. */
const OVERLAP_SECONDS_MAX = 604_800

interface Props {
  readonly of: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

/** Replaces a key by a new one. The old key stays valid for the chosen overlap. */
export function RotateKey({ of, onClose }: Props) {
  const queries = useQueryClient()
  const [overlapSeconds, setOverlap] = useState(OVERLAP_SECONDS)
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
        <OverlapField
          label="Old key keeps working for"
          hint="The new key has the same scope and works at once."
          value={overlapSeconds}
          max={OVERLAP_SECONDS_MAX}
          onChange={setOverlap}
        />
        <Problem error={rotate.error} />
        <div className="dialog-foot">
          <Button type="submit" look="primary" disabled={rotate.isPending}>
            Create new key
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
