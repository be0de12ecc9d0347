import { useEffect, useRef } from 'react'
import { toast } from './Toasts.tsx'
import { READ_ONLY, useIsReader } from './Writes.tsx'

const IS_APPLE = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

/** A shortcut with the platform's modifier key: `⌘K` on Apple's systems, else `Ctrl+K`. */
export function withModifier(key: string): string {
  return IS_APPLE ? `⌘${key}` : `Ctrl+${key}`
}

/** Every keyboard shortcut, in the order of the list. */
export const SHORTCUTS = {
  search: { keys: ['/'], words: 'Search', group: 'Captures' },
  next: { keys: ['j'], words: 'Next capture', group: 'Captures' },
  previous: { keys: ['k'], words: 'Previous capture', group: 'Captures' },
  close: { keys: ['Escape'], words: 'Close request', group: 'Captures' },
  newest: { keys: ['g'], words: 'Go to newest', group: 'Captures' },
  pause: { keys: ['p'], words: 'Pause or resume', group: 'Captures' },
  pick: { keys: ['x'], words: 'Select', group: 'Captures' },
  remove: { keys: ['Backspace', 'Delete'], words: 'Delete', group: 'Captures' },
  undo: { keys: ['z'], words: 'Undo deletion', group: 'Captures' },
  tab1: { keys: ['1'], words: 'Body', group: 'Request' },
  tab2: { keys: ['2'], words: 'Headers', group: 'Request' },
  tab3: { keys: ['3'], words: 'Query', group: 'Request' },
  tab4: { keys: ['4'], words: 'Deliveries', group: 'Request' },
  view: { keys: ['v'], words: 'Pretty, raw, hex', group: 'Request' },
  replay: { keys: ['r'], words: 'Replay', group: 'Request' },
  edit: { keys: ['e'], words: 'Edit and send', group: 'Request' },
  curl: { keys: ['c'], words: 'Copy as curl', group: 'Request' },
  compare: { keys: ['d'], words: 'Compare', group: 'Request' },
  previousEndpoint: { keys: ['['], words: 'Previous endpoint', group: 'Anywhere' },
  nextEndpoint: { keys: [']'], words: 'Next endpoint', group: 'Anywhere' },
  newEndpoint: { keys: ['n'], words: 'New endpoint', group: 'Anywhere' },
  palette: { keys: [withModifier('K')], words: 'Go to a page or run a command', group: 'Anywhere' },
  keys: { keys: ['?'], words: 'Show shortcuts', group: 'Anywhere' },
} as const

export type ShortcutName = keyof typeof SHORTCUTS

const WRITES: ReadonlySet<ShortcutName> = new Set(['remove', 'undo', 'replay', 'edit', 'newEndpoint'])

const OFF = 'singleKeys'

/** Whether single-letter shortcuts are on. They can be switched off, for users who dictate. */
export function areLettersOn(): boolean {
  return localStorage.getItem(OFF) !== 'off'
}

/** Switches single-letter shortcuts on or off in this browser. */
export function switchLetters(isOn: boolean): void {
  if (isOn) localStorage.removeItem(OFF)
  else localStorage.setItem(OFF, 'off')
}

const NAMES: ReadonlyMap<string, ShortcutName> = new Map(
  Object.entries(SHORTCUTS)
    .flatMap(([name, { keys }]) => keys.map((key) => [key, name] as const))
    .flatMap(([key, name]) => (isName(name) ? [[key, name] as const] : [])),
)

function isName(name: string): name is ShortcutName {
  return name in SHORTCUTS
}

function nameOf(event: KeyboardEvent): ShortcutName | undefined {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') return 'palette'
  if (event.metaKey || event.ctrlKey || event.altKey) return undefined
  return NAMES.get(event.key)
}

const TYPING =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"], .code-editor'

/**
 * Handles shortcuts while the component is rendered, except while text is typed, and behind a dialog or a menu. If
 * several components handle a key, the last one wins.
 */
export function useShortcuts(run: Partial<Record<ShortcutName, () => void>>): void {
  const latest = useRef(run)
  latest.current = run
  const isReader = useIsReader()
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const name = nameOf(event)
      const action = name === undefined ? undefined : latest.current[name]
      if (name === undefined || action === undefined || event.defaultPrevented) return
      if (document.querySelector('dialog[open], .menu:popover-open') !== null) return
      const { target } = event
      const isTyping = target instanceof Element && target.closest(TYPING) !== null
      if (isTyping && name !== 'palette') return
      if (event.key.length === 1 && name !== 'palette' && !areLettersOn()) return
      event.preventDefault()
      if (isReader && WRITES.has(name)) toast(READ_ONLY)
      else action()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [isReader])
}
