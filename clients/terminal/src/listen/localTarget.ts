import { usageError } from '../clientError.ts'

/** Whether a text names a target: a port, `host:port`, or a URL. */
export function isTarget(text: string): boolean {
  return /^:?\d{1,5}(\/|$)/.test(text) || /^https?:\/\//.test(text) || /^[\w.-]+:\d{1,5}(\/|$)/.test(text)
}

/**
 * Parses the target of `--to`, one host, one port, one base path: `3000` is `http://localhost:3000`.
 *
 * @returns the URL as the user typed it, with a scheme and without trailing slashes, and the base that captured paths
 *   and queries are appended to
 * @throws ClientError when it is invalid
 */
export function localTarget(target: string) {
  const text =
    /^:?\d/.test(target) && !/^[\d.]+:/.test(target) ? `localhost:${target.replace(/^:/, '')}` : target
  const written = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!isTarget(target) || !URL.canParse(written)) {
    throw usageError(
      `"${target}" is not a valid port or URL.`,
      'Write a port (3000), or a URL (http://localhost:3000/hooks).',
    )
  }
  const { origin, pathname, search, port, username, password } = new URL(written)
  if (port === '0')
    throw usageError(`"${target}" is not a valid port.`, 'Write that of your server, like 3000.')
  if (username !== '' || password !== '') {
    throw usageError('A target takes no name and password.', 'Requests arrive as their sender sent them.')
  }
  const basePath = pathname.replace(/\/+$/, '')
  return { url: written.replace(/\/+$/, ''), base: `${origin}${basePath === '' ? '/' : basePath}${search}` }
}
