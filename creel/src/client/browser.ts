import { ClientError } from './clientError.ts'

/**
 * Opens a page in the user's browser.
 *
 * @throws ClientError naming the page where no browser can be started
 */
export async function openInBrowser(url: string): Promise<void> {
  const command = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const program = process.env.BROWSER ?? Bun.which(command)
  if (program === null) throw new ClientError(`No browser can be started here. The page is ${url}`)
  const child = Bun.spawn([program, url], { stdio: ['ignore', 'ignore', 'ignore'] })
  child.unref()
  await Promise.resolve()
}
