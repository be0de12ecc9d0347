import type { ComponentProps } from 'react'

interface Props extends ComponentProps<'button'> {
  /** Classes of its look: `primary`, `danger`, `quiet`, `small`, `icon`, or several. */
  readonly look?: string
  /** Name of a button that shows an icon only; its title, too. */
  readonly label?: string
}

/** A button. It submits its form only with `type="submit"`. */
export function Button({ look = '', label, type = 'button', ...rest }: Props) {
  return <button type={type} className={`button ${look}`} title={label} aria-label={label} {...rest} />
}
