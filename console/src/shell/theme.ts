import { useEffect, useState } from 'react'
import { applyTheme } from './applyTheme.ts'

const THEMES = ['system', 'light', 'dark'] as const

/** The user's choice; `system` follows the device. */
export type Theme = (typeof THEMES)[number]

/** The theme, kept in this browser, and a function that switches to the next one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(
    () => THEMES.find((known) => known === localStorage.getItem('theme')) ?? 'system',
  )
  useEffect(() => {
    localStorage.setItem('theme', theme)
    applyTheme()
  }, [theme])
  return [theme, () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system')]
}
