import type { ReactNode } from 'react'

interface Props {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly label: string
  readonly isDisabled?: boolean
  /** Shown next to the switch; then `label` is for screen readers. */
  readonly children?: ReactNode
}

/** A switch that takes effect at once. */
export function Switch({ isOn, onChange, label, isDisabled = false, children }: Props) {
  return (
    <label className="switch" title={label}>
      <input
        type="checkbox"
        role="switch"
        aria-label={label}
        checked={isOn}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      {children}
    </label>
  )
}
