import { type ComponentProps, type MouseEvent, useState } from 'react'

interface Props extends ComponentProps<'button'> {
  /** Classes of its look: `primary`, `danger`, `quiet`, `small`, `icon`, or several. */
  readonly look?: string
  /** Name of a button that shows an icon only; its title, too. */
  readonly label?: string
}

/** A button. It submits its form only with `type="submit"`, and once for a double click, however fast the answer is. */
export function Button({ look = '', label, type = 'button', ...rest }: Props) {
  return (
    <button
      type={type}
      className={`button ${look}`}
      title={label}
      aria-label={label}
      onClick={type === 'submit' ? (event) => event.detail > 1 && event.preventDefault() : undefined}
      {...rest}
    />
  )
}

interface ConfirmProps extends Omit<Props, 'onClick'> {
  /** Label after the first press. */
  readonly confirm: string
  readonly onConfirm: () => void
}

/**
 * A button that deletes something: the first press only arms it, until the focus leaves. A double click is one press,
 * and so is a key that is held.
 */
export function ConfirmButton({ confirm, onConfirm, children = 'Delete…', ...rest }: ConfirmProps) {
  const [isArmed, setArmed] = useState(false)
  const press = ({ detail }: MouseEvent) => {
    if (detail > 1) return
    setArmed(!isArmed)
    if (isArmed) onConfirm()
  }
  return (
    <Button
      look="danger"
      {...rest}
      aria-label={isArmed ? undefined : rest['aria-label']}
      onClick={press}
      onKeyDown={(event) => event.repeat && event.key === 'Enter' && event.preventDefault()}
      onBlur={() => setArmed(false)}
    >
      {isArmed ? confirm : children}
    </Button>
  )
}
