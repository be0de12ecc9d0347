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

const ROW = 'tr, li, .cards > *'

/** What got the focus from {@link keepFocus}. */
let landedOn: Element | undefined

/** Whether nothing has the focus, or only what got it because something else has left the page. */
export function isFocusLost(): boolean {
  const { activeElement, body } = document
  return activeElement === body || activeElement === landedOn
}

/**
 * Moves the focus when what has it leaves the page, as what is deleted: to the next row, else the one before, else the
 * list or heading around it. A button gets it back that was disabled during a call. @returns ends it
 */
export function keepFocus(): () => void {
  let last: Element | undefined
  /** The node that has left the page with the focus, and where it stood. */
  let from: Node | undefined
  const isNowhere = () => document.activeElement === document.body
  const hear = ({ target }: FocusEvent) => {
    last = from = target instanceof Element ? target : undefined
  }
  // The user has left it for nothing; it is still there.
  const forget = () =>
    queueMicrotask(() => {
      if (isNowhere() && last?.isConnected === true && !last.matches(':disabled')) last = undefined
    })
  const look = (records: readonly MutationRecord[]) => {
    if (last === undefined || !isNowhere()) return
    if (last.isConnected) {
      if (last instanceof HTMLElement && !last.matches(':disabled')) last.focus({ preventScroll: true })
      return
    }
    const rows: Element[] = []
    for (const { nextSibling, previousSibling, removedNodes, target } of records) {
      const gone = [...removedNodes].find((node) => from !== undefined && node.contains(from))
      if (gone === undefined) continue
      from = target
      if (gone instanceof Element && target instanceof Element && isRow(gone, target))
        rows.push(...[nextSibling, previousSibling].filter((node) => node instanceof Element))
    }
    if (from === last || rows.some(land)) return
    for (let at = from instanceof Element ? from : null; at?.isConnected === true; at = at.parentElement)
      if (placesIn(at).some(land)) return
  }
  const watching = new MutationObserver(look)
  watching.observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['disabled'],
  })
  addEventListener('focusin', hear)
  addEventListener('focusout', forget)
  return () => {
    watching.disconnect()
    removeEventListener('focusin', hear)
    removeEventListener('focusout', forget)
  }
}

/** Whether a node was a row of the list that it has left. */
const isRow = (gone: Element, list: Element) => gone.matches('tr, li') || list.matches('.cards')

/** What may get the focus of something that has left an element. */
function placesIn(place: Element): (Element | null)[] {
  const isWholePage = place.querySelector('#nav') !== null
  return [
    place.matches(ROW) ? place : null,
    place.closest('.list') ?? place.querySelector('.list'),
    place.querySelector(isWholePage ? '#main h1' : 'h1, h2, h3'),
  ]
}

/** Focuses an element, if that can be. The row itself, not a button in it, which a key that is pressed again would press. */
function land(place: Element | null): boolean {
  if (!(place instanceof HTMLElement)) return false
  if (!place.hasAttribute('tabindex')) place.tabIndex = -1
  place.focus({ preventScroll: true })
  if (document.activeElement !== place) return false
  landedOn = place
  return true
}
