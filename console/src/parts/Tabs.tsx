import { type KeyboardEvent, type ReactNode, useRef } from 'react'

interface Props<Name extends string> {
  readonly label: string
  readonly current: Name
  readonly tabs: readonly {
    readonly name: Name
    readonly words: string
    readonly badge?: number | undefined
  }[]
  readonly onTab: (name: Name) => void
  readonly children?: ReactNode
}

/** Tabs over one panel, whose id is `panel-<name>`. Arrow keys move along them. */
export function Tabs<Name extends string>({ label, current, tabs, onTab, children }: Props<Name>) {
  const places = useRef<(HTMLButtonElement | null)[]>([])
  const move = (event: KeyboardEvent, at: number) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = (to + tabs.length) % tabs.length
    const tab = tabs[next]
    if (tab !== undefined) onTab(tab.name)
    places.current[next]?.focus()
  }
  return (
    <div className="tabs">
      <div role="tablist" aria-label={label}>
        {tabs.map(({ name, words, badge }, at) => (
          <button
            key={name}
            ref={(place) => {
              places.current[at] = place
            }}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls={`panel-${name}`}
            aria-selected={current === name}
            tabIndex={current === name ? 0 : -1}
            onClick={() => onTab(name)}
            onKeyDown={(event) => move(event, at)}
          >
            {words}
            {badge !== undefined && badge > 0 && <span className="badge">{badge}</span>}
          </button>
        ))}
      </div>
      {children}
    </div>
  )
}
