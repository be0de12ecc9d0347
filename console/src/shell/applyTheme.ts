const dark = matchMedia('(prefers-color-scheme: dark)')

/** Sets the theme on the page: the one that was chosen in this browser, else that of the device, as it changes. */
export function applyTheme(): void {
  const chosen = localStorage.getItem('theme')
  document.documentElement.dataset.theme =
    chosen === 'light' || chosen === 'dark' ? chosen : dark.matches ? 'dark' : 'light'
}

/** Follows the device from now on. */
export function followDeviceTheme(): void {
  dark.addEventListener('change', applyTheme)
}
