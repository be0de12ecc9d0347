const IS_APPLE = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

/** A shortcut with the platform's modifier key: `⌘K` on Apple's systems, else `Ctrl+K`. */
export function withModifier(key: string): string {
  return IS_APPLE ? `⌘${key}` : `Ctrl+${key}`
}
