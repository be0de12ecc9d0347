import type { Command } from 'commander'
import { z } from 'zod'
import { cannotRead, givesMembers, usageError } from '../clientError.ts'
import { countOption, given, spanOption, textOfFile } from '../words.ts'

/** Members of a forward action as options; those of one document are put together. */
export interface ActionOptions {
  readonly name?: string
  readonly to?: string
  readonly timeout?: number
  readonly concurrency?: number
  readonly rate?: string
  readonly orderBy?: string
  readonly onDeadLetter?: string
  readonly retry?: string
  readonly retryOn?: string
  readonly breaker?: string
  readonly gone?: string
  readonly bearer?: string
  readonly basic?: string
  readonly authHeader?: string
  readonly oauth?: string
  readonly clientSecret?: string
  readonly scope?: string
  /** False for `--no-auth`. */
  readonly auth?: boolean
  readonly clientCert?: string
  readonly clientKey?: string
  readonly ca?: string
  /** False for `--no-tls`. */
  readonly tls?: boolean
  readonly signingSecret?: string
  readonly signingScheme?: string
}

const MEMBERS = {
  url: '--to',
  'delivery.timeoutSeconds': '--timeout',
  'delivery.concurrency': '--concurrency',
  'delivery.rate': '--rate',
  'delivery.order.by': '--order-by',
  'delivery.order.onDeadLetter': '--on-dead-letter',
  'delivery.retry.delays': '--retry',
  'delivery.retry.on': '--retry-on',
  'delivery.breaker': '--breaker',
  'delivery.gone': '--gone',
  'auth.token': '--bearer',
  'auth.username': '--basic',
  'auth.password': '--basic',
  'auth.name': '--auth-header',
  'auth.value': '--auth-header',
  'auth.clientId': '--oauth',
  'auth.tokenUrl': '--oauth',
  'auth.clientSecret': '--client-secret',
  'auth.scope': '--scope',
  'tls.clientCertificate': '--client-cert',
  'tls.clientKey': '--client-key',
  'tls.certificateAuthority': '--ca',
  'signing.scheme': '--signing-scheme',
}

const FROM_FILE = '@file reads it from a file, @- from stdin'

/** Adds them. A secret may be read from a file, so that no list of processes shows it. */
export function withActionOptions(command: Command): Command {
  return givesMembers(command, MEMBERS)
    .option('--name <name>', 'name of the action')
    .option('--to <url>', 'URL to forward to')
    .option('--timeout <span>', 'time limit of an attempt, 1s to 300s', spanOption)
    .option('--concurrency <number>', 'attempts in flight at once, over all processes', countOption)
    .option('--rate <count/span>', 'limit for starting attempts, e.g. 20/1s; none for no limit')
    .option('--order-by <path>', 'path of the ordering key, or endpoint for one order; none for no order')
    .option('--on-dead-letter <what>', 'after a dead letter, continue or hold its ordering key')
    .option('--retry <delays>', 'delays between attempts, e.g. 5s,1m,10m; none for no retry')
    .option('--retry-on <statuses>', 'statuses to retry, e.g. 408,429,5xx; none for no status')
    .option('--breaker <failures/window/probe>', 'circuit breaker, e.g. 20/60s/30s; none for no breaker')
    .option('--gone <what>', 'after a 410, end the delivery, or also pause the action: end or pause')
    .option('--bearer <token>', `credentials: a token; ${FROM_FILE}`)
    .option('--basic <name:password>', 'credentials: a name and a password, or @file')
    .option('--auth-header <name:value>', 'credentials: a header, or @file')
    .option('--oauth <client@token-url>', 'credentials: OAuth 2 client id and token endpoint')
    .option('--client-secret <secret>', 'client secret for --oauth, or @file')
    .option('--scope <scopes>', 'scopes for --oauth')
    .option('--no-auth', 'remove the credentials')
    .option('--client-cert <file>', 'PEM of a client certificate; "" for none')
    .option('--client-key <file>', 'PEM of the key of the client certificate')
    .option('--ca <file>', 'PEM of the CA of the receiver\'s certificate; "" for the system\'s CAs')
    .option('--no-tls', 'remove the client certificate and the CA')
    .option('--signing-secret <secret>', 'secret that signs deliveries, or @file; "" for none')
    .option('--signing-scheme <scheme>', 'creel or standard-webhooks')
}

/** The present policy: options change its named members. */
const Stored = z.looseObject({
  delivery: z
    .looseObject({ order: z.looseObject({}).nullish(), retry: z.looseObject({}).nullish() })
    .nullish(),
})

/**
 * The members that the options name, as the API takes them.
 *
 * @param stored the action before; undefined for a new one. Members of its policy that no option names stay
 * @throws ClientError for an option that cannot be understood, and a file that cannot be read
 */
export async function actionMembers(
  options: ActionOptions,
  stored: unknown,
): Promise<Record<string, unknown>> {
  const { name, to: url, signingSecret, signingScheme: scheme } = options
  return given({
    name,
    url,
    kind: url !== undefined && stored === undefined ? 'forward' : undefined,
    delivery: deliveryOf(options, stored === undefined ? null : (Stored.parse(stored).delivery ?? null)),
    auth: await authOf(options),
    tls: await tlsOf(options),
    signingSecret: signingSecret === undefined ? undefined : await secretOf(signingSecret),
    signing: scheme === undefined ? undefined : { scheme },
  })
}

function deliveryOf(
  options: ActionOptions,
  stored: z.infer<typeof Stored>['delivery'],
): Record<string, unknown> | undefined {
  const { timeout, concurrency, rate, orderBy, onDeadLetter, retry, retryOn, breaker, gone } = options
  return changed(stored, {
    timeoutSeconds: timeout === undefined ? undefined : timeout / 1000,
    concurrency,
    rate: orNone(rate, rateOf),
    breaker: orNone(breaker, breakerOf),
    gone,
    order: orderBy === 'none' ? null : changed(stored?.order, { by: orderBy, onDeadLetter }),
    retry: changed(stored?.retry, {
      delays: retry === undefined ? undefined : listOf(retry),
      on: retryOn === undefined ? undefined : listOf(retryOn).map(statusOf),
    }),
  })
}

/** A stored document with the members that options name; undefined if they name none. */
function changed(stored: object | null | undefined, named: Readonly<Record<string, unknown>>) {
  const members = given(named)
  return Object.keys(members).length === 0 ? undefined : { ...stored, ...members }
}

async function authOf(options: ActionOptions): Promise<Record<string, unknown> | null | undefined> {
  const { auth, authHeader, basic, bearer, clientSecret, oauth, scope } = options
  const kinds = [auth === false ? true : undefined, bearer, basic, authHeader, oauth]
  if (kinds.filter((kind) => kind !== undefined).length > 1)
    throw usageError(
      'An action takes one kind of credentials.',
      'Give one of --bearer, --basic, --auth-header, --oauth, --no-auth.',
    )
  if (auth === false) return null
  if (bearer !== undefined) return { kind: 'bearer', token: await secretOf(bearer) }
  if (basic !== undefined) {
    const [username, password] = halves(await secretOf(basic), '--basic', 'name:password')
    return { kind: 'basic', username, password }
  }
  if (authHeader !== undefined) {
    const [name, value] = halves(await secretOf(authHeader), '--auth-header', 'X-Api-Key:value')
    return { kind: 'header', name, value: value.trim() }
  }
  const secret = clientSecret === undefined ? {} : { clientSecret: await secretOf(clientSecret) }
  if (oauth === undefined) {
    if (clientSecret === undefined && scope === undefined) return undefined
    return { kind: 'oauth2ClientCredentials', ...secret, ...given({ scope }) }
  }
  const at = oauth.indexOf('@http')
  if (at < 1)
    throw cannotRead('--oauth', oauth, 'Write it like my-client@https://id.example.com/oauth/token.')
  const client = { clientId: oauth.slice(0, at), tokenUrl: oauth.slice(at + 1) }
  return { kind: 'oauth2ClientCredentials', ...client, ...secret, ...given({ scope }) }
}

async function tlsOf({ tls, clientCert, clientKey, ca }: ActionOptions) {
  if (tls === false) return null
  const [clientCertificate, key, certificateAuthority] = await Promise.all(
    [clientCert, clientKey, ca].map(async (file) => (file ? await textOfFile(file) : file)),
  )
  return changed({}, { clientCertificate, clientKey: key, certificateAuthority })
}

const orNone = (text: string | undefined, read: (text: string) => unknown) =>
  text === undefined ? undefined : text === 'none' ? null : read(text)

const listOf = (text: string): string[] => (text === 'none' ? [] : text.split(',').map((word) => word.trim()))

const statusOf = (word: string): number | string => (/^\d+$/.test(word) ? Number(word) : word)

function rateOf(text: string) {
  const [count = '', span = '1s'] = text.split('/')
  return { count: numberOf(count, '--rate', '20/1s'), perSeconds: secondsOf(span, '--rate', '20/1s') }
}

function breakerOf(text: string) {
  const example = '20/60s/30s'
  const [failures = '', window = '', probe = ''] = text.split('/')
  return {
    failures: numberOf(failures, '--breaker', example),
    windowSeconds: secondsOf(window, '--breaker', example),
    probeEverySeconds: secondsOf(probe, '--breaker', example),
  }
}

function numberOf(text: string, option: string, example: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw cannotRead(option, text, `Write it like ${example}.`)
}

function secondsOf(text: string, option: string, example: string): number {
  try {
    return spanOption(text) / 1000
  } catch {
    throw cannotRead(option, text, `Write it like ${example}.`)
  }
}

function halves(text: string, option: string, example: string): readonly [string, string] {
  const at = text.indexOf(':')
  // The text is a secret, and is not repeated.
  if (at < 1) throw usageError(`${option} has no colon.`, `Write it like ${example}.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The text itself, or what a file holds, without the line break at its end. */
async function secretOf(text: string): Promise<string> {
  return text.startsWith('@') ? (await textOfFile(text.slice(1))).replace(/\r?\n$/, '') : text
}
