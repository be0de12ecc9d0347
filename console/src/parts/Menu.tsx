import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ComponentType, type KeyboardEvent, type ReactNode, useId, useRef } from 'react'
import { Button } from './Button.tsx'

interface Props {
  readonly button: ReactNode
  readonly label?: string
  readonly className?: string
  readonly children: ReactNode
}

/** A button that opens a menu. Arrow keys move in it, Esc closes it. */
export function Menu({ button, label, className = 'button quiet', children }: Props) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const items = () => [
    ...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]:not(:disabled)') ?? []),
  ]
  const move = (event: KeyboardEvent) => {
    const all = items()
    const at = all.findIndex((item) => item.matches(':focus'))
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    all[(to + all.length) % all.length]?.focus()
  }
  return (
    <>
      <button
        type="button"
        className={className}
        popoverTarget={id}
        aria-haspopup="menu"
        aria-label={label}
        title={label}
      >
        {button}
      </button>
      <div
        ref={box}
        id={id}
        popover="auto"
        className="menu"
        role="menu"
        aria-label={label ?? 'Menu'}
        tabIndex={-1}
        onKeyDown={move}
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest('[role="menuitem"]') !== null) {
            event.currentTarget.hidePopover()
          }
        }}
        onToggle={(event) => {
          if (event.newState === 'open') items()[0]?.focus()
        }}
      >
        {children}
      </div>
    </>
  )
}

interface ItemProps {
  readonly icon?: ComponentType<{ size: number }>
  readonly onClick: () => void
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly shortcut?: string
  readonly children: ReactNode
}

export function MenuItem({
  icon: Icon,
  onClick,
  isDangerous = false,
  isDisabled = false,
  shortcut,
  children,
}: ItemProps) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={isDangerous ? 'danger' : undefined}
      disabled={isDisabled}
      onClick={onClick}
    >
      {Icon !== undefined && <Icon size={14} />}
      <span>{children}</span>
      {shortcut !== undefined && <kbd>{shortcut}</kbd>}
    </button>
  )
}

interface MoveProps {
  readonly name: string
  readonly isBusy?: boolean
  /** Whether Alt and an arrow do the same. */
  readonly hasKeys?: boolean
  readonly onMove: (by: -1 | 1) => void
}

const MOVES = [
  { by: -1, words: 'up', key: '↑', Icon: ChevronUp },
  { by: 1, words: 'down', key: '↓', Icon: ChevronDown },
] as const

/** Buttons that move a thing up and down in its list. */
export const MoveButtons = ({ name, isBusy = false, hasKeys = false, onMove }: MoveProps) => (
  <span className="moves">
    {MOVES.map(({ by, words, key, Icon }) => (
      <Button
        key={by}
        look="quiet icon small"
        onClick={() => onMove(by)}
        disabled={isBusy}
        aria-label={`Move ${name} ${words}`}
        title={hasKeys ? `Move ${words} (Alt ${key})` : `Move ${words}`}
      >
        <Icon size={14} />
      </Button>
    ))}
  </span>
)
