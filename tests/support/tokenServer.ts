import { type Received, type ReceiverAnswer, startReceiver } from './receiver.ts'

/** A token endpoint of OAuth 2: every fetch gets another token. */
export interface TokenServer extends AsyncDisposable {
  readonly url: string
  /** Every fetch, in order. */
  readonly fetches: readonly Received[]
  /** Tokens given out, in order. */
  readonly tokens: readonly string[]
  /** Seconds for which tokens last; 3600 at first. */
  lifetime: number | undefined
  /** Answer instead of a token. */
  failure: ReceiverAnswer | undefined
  /** Fetches wait for this before they are answered. */
  held: Promise<void> | undefined
}

/** Starts a token endpoint on a free port of the loopback address. */
export async function startTokenServer(): Promise<TokenServer> {
  const tokens: string[] = []
  const receiver = await startReceiver((_, response) => {
    void (server.held ?? Promise.resolve()).then(() => {
      const { failure, lifetime } = server
      if (typeof failure === 'object') {
        response.writeHead(failure.status)
        return response.end(failure.body)
      }
      const token = `access-token-${crypto.randomUUID()}`
      tokens.push(token)
      response.setHeader('Content-Type', 'application/json')
      return response.end(
        JSON.stringify({ access_token: token, token_type: 'bearer', expires_in: lifetime, scope: 'ignored' }),
      )
    })
  })
  const server: TokenServer = {
    url: receiver.url.replace('/hooks', '/oauth/token'),
    fetches: receiver.received,
    tokens,
    lifetime: 3600,
    failure: undefined,
    held: undefined,
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
  return server
}
