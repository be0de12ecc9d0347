import { CopyButton } from '../parts/CopyButton.tsx'
import { Dialog } from '../parts/Dialog.tsx'

interface Props {
  readonly value: string
  /** Permissions of the key, as a sentence. */
  readonly may: string
  readonly onClose: () => void
}

/** A new key. It is shown once, until the user confirms that it is kept. */
export function MadeKey({ value, may, onClose }: Props) {
  return (
    <Dialog title="The new key" onClose={onClose} isClosable={false}>
      <p>It is shown only now. {may}</p>
      <div className="one-time">
        <code>{value}</code>
        <CopyButton label="Copy the key" text={() => value} />
      </div>
      <div className="dialog-foot">
        <button type="button" className="button primary" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </Dialog>
  )
}

const MAY = {
  read: 'Whoever has it may look at',
  write: 'Whoever has it may look at and change',
  admin: 'Whoever has it may do everything, keys included, in',
} as const

/** Permissions of a key, as a sentence. */
export function mayOf({
  scope,
  endpointId,
}: {
  readonly scope: keyof typeof MAY
  readonly endpointId: string | null
}) {
  return `${MAY[scope]} ${endpointId === null ? 'this workspace' : 'one endpoint'}.`
}
