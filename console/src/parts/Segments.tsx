import { type ReactNode, useId } from 'react'

interface Props<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly options: readonly { readonly value: Value; readonly words: string; readonly isOff?: boolean }[]
  readonly onChange: (value: Value) => void
}

/** A choice between a few options, shown side by side. */
export function Segments<Value extends string>({ label, value, options, onChange }: Props<Value>) {
  const group = useId()
  return (
    <div className="segments" role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={group}
            checked={value === option.value}
            disabled={option.isOff === true}
            onChange={() => onChange(option.value)}
          />
          {option.words}
        </label>
      ))}
    </div>
  )
}

/** The same in a form, with its label above it. */
export function SegmentsField<Value extends string>({
  problem = '',
  ...props
}: Props<Value> & { problem?: string }) {
  return (
    <div className="field">
      <span className="label" aria-hidden="true">
        {props.label}
      </span>
      <Segments {...props} />
      {problem !== '' && <p className="field-problem">{problem}</p>}
    </div>
  )
}

interface SwitchProps {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  readonly label: string
  readonly isDisabled?: boolean
  /** Shown next to the switch; then `label` is for screen readers. */
  readonly children?: ReactNode
}

/** A switch that takes effect at once. */
export function Switch({ isOn, onChange, label, isDisabled = false, children }: SwitchProps) {
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
