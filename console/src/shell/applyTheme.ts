const dark = matchMedia('(prefers-color-scheme: dark)')

/** Sets the theme of the page: the one chosen in this browser, else the device's current one. */
export function applyTheme(): void {
  const chosen = localStorage.getItem('theme')
  document.documentElement.dataset.theme =
    chosen === 'light' || chosen === 'dark' ? chosen : dark.matches ? 'dark' : 'light'
}

/** Applies changes of the device's theme from now on. */
export function followDeviceTheme(): void {
  dark.addEventListener('change', applyTheme)
}
