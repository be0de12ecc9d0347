import { Button } from '../parts/Button.tsx'
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
    <Dialog title="New key" onClose={onClose} isClosable={false}>
      <p>The key is shown only once. {may}</p>
      <div className="one-time">
        <code>{value}</code>
        <CopyButton label="Copy key" text={() => value} />
      </div>
      <div className="dialog-foot">
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      </div>
    </Dialog>
  )
}

const MAY = {
  read: 'It can read',
  write: 'It can read and change',
  admin: 'It can do everything, keys included, in',
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
