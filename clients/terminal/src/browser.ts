import { ClientError } from './clientError.ts'

/**
 * Opens a page in the user's browser. Accepts http and https only: the service chooses the page, and other schemes
 * start other programs.
 *
 * @throws ClientError naming the page when its scheme is another one, or when no browser can be started
 */
export async function openInBrowser(page: string): Promise<void> {
  const { protocol, href: url } = URL.parse(page) ?? {}
  if (url === undefined || (protocol !== 'http:' && protocol !== 'https:')) {
    throw new ClientError(`This is not an http or https URL: ${page}`)
  }
  const command = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const program = process.env.BROWSER ?? Bun.which(command)
  if (program === null) throw new ClientError(`No browser was found. Open ${url} yourself.`)
  const child = Bun.spawn([program, url], { stdio: ['ignore', 'ignore', 'ignore'] })
  child.unref()
  await Promise.resolve()
}

/** Whether a browser can be opened on the user's screen: not in a pipe, over ssh or without a display. */
export function canOpenBrowser(): boolean {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION } = process.env
  if (process.stdout.isTTY !== true) return false
  if (BROWSER !== undefined) return true
  if (SSH_CONNECTION !== undefined) return false
  return process.platform === 'darwin' || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined
}
