import { DomainError, type Services } from '@creel/core'
import { presentedSession, signInOf } from '../console/index.ts'
import type { FetchHandler } from '../http/fetchAnswer.ts'
import { refusedRequests } from '../metrics.ts'
import { exchangedTextOf } from '../oauth/index.ts'
import { hasFailed, isOfCaller, presentedKey, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'
import { isForwarded } from './forwarding.ts'
import type { Strangers } from './strangers.ts'

/** Checks keys, or tokens of sessions, at a bounded cost for the database. */
interface HeldKeys {
  /** Caches a key that turned out to be good. */
  remember(key: string): void
  /** @returns whether the key is good; delayed, unless the key is cached */
  isGood(key: string): Promise<boolean>
}

/** Filters keys to the good ones, in one query. */
type LookUpKeys = (keys: ReadonlySet<string>) => Promise<ReadonlySet<string>>

const LOOK_MS = 1000
const REMEMBERED_MAX = 10_000

/**
 * Creates the check for callers from addresses with too many failed calls. However many keys they make up, the database
 * is queried once a second, for all of them together. A good key is only delayed.
 */
function createHeldKeys(lookUp: LookUpKeys): HeldKeys {
  const remembered = new Set<string>()
  let waiting = new Map<string, PromiseWithResolvers<boolean>>()

  const look = async () => {
    const asked = waiting
    waiting = new Map()
    try {
      const good = await lookUp(new Set(asked.keys()))
      for (const [key, { resolve }] of asked) resolve(good.has(key))
    } catch (error) {
      for (const { reject } of asked.values()) reject(error)
    }
  }

  return {
    remember(key) {
      // Moves the key to the end: the order is that of the last use.
      remembered.delete(key)
      remembered.add(key)
      if (remembered.size <= REMEMBERED_MAX) return
      const [leastUsed] = remembered
      if (leastUsed !== undefined) remembered.delete(leastUsed)
    },
    isGood(key) {
      if (remembered.has(key)) return Promise.resolve(true)
      const known = waiting.get(key)
      if (known !== undefined) return known.promise
      if (waiting.size === 0) setTimeout(() => void look(), LOOK_MS)
      const answer = Promise.withResolvers<boolean>()
      waiting.set(key, answer)
      return answer.promise
    },
  }
}

const throttledCalls = refusedRequests.labels('throttled')

/** Filters of presented credentials to the good ones, in one query of each database. */
export interface KnownCredentials {
  readonly keys: LookUpKeys
  readonly sessions: LookUpKeys
  readonly grants: LookUpKeys
}

/** A key, or the token of a session, and the check for it. */
interface Credential {
  readonly text: string
  readonly held: HeldKeys
}

/**
 * Public paths, which are exempt from throttling. A monitoring system may have the same address as a misbehaving
 * client, because behind one proxy all clients share it.
 */
const OPEN =
  /^\/(healthz|readyz|metrics|llms\.txt|\.well-known\/oauth-.*|openapi\/v1\.json|docs(\.md|\/.*)?|console\/(?!session$).*)$/

/**
 * Throttles addresses with too many failed calls before they cost the database anything: 429 with the seconds until
 * they are served again. A call with a good key or a live session is never refused, nor is signing in with a good key, nor
 * an exchange of a good code or refresh token.
 * A key that this process does not know is looked up first, together with those of all other waiting calls. Every
 * answer carries the id under which it is logged.
 */
export function throttledFetch(
  fetch: FetchHandler,
  services: Services,
  { strangers, known }: { readonly strangers: Strangers; readonly known: KnownCredentials },
): FetchHandler {
  const keys = createHeldKeys(known.keys)
  const sessions = createHeldKeys(known.sessions)
  const grants = createHeldKeys(known.grants)
  const credentialOf = (request: Request): Credential | undefined => {
    const key = presentedKey(request)
    if (key !== null) return { text: key, held: keys }
    const token = presentedSession(services.urls, request)
    return token === null ? undefined : { text: token, held: sessions }
  }
  /** If the database does not answer, the call passes as without the throttle. */
  const mayBeGood = async (credential: Credential | undefined) => {
    if (credential === undefined) return false
    return await credential.held.isGood(credential.text).catch(() => true)
  }
  const maySignIn = async (request: Request) => {
    const signIn = await signInOf(request)
    return signIn !== null && 'key' in signIn && (await mayBeGood({ text: signIn.key, held: keys }))
  }
  const mayExchange = async (request: Request) => {
    const text = await exchangedTextOf(request)
    return text !== null && (await mayBeGood({ text, held: grants }))
  }
  const mayPass = async (request: Request, credential: Credential | undefined) =>
    (await mayBeGood(credential)) || (await maySignIn(request)) || (await mayExchange(request))
  const answer: FetchHandler = async (request, client) => {
    if (OPEN.test(new URL(request.url).pathname)) return await fetch(request, client)
    const address = client?.address ?? null
    const credential = credentialOf(request)
    const waitSeconds = strangers.waitOf(address)
    if (waitSeconds !== undefined && !(await mayPass(request, credential))) {
      throttledCalls.inc()
      const detail = 'Too many calls from this address had no valid key, or asked for unknown paths.'
      const refusal = new DomainError('rate_limited', detail, { retryAfterSeconds: waitSeconds })
      return problemResponse(services, refusal, { traceId: traceIdOf(request) })
    }
    const response = await fetch(request, client)
    if (isOfCaller(request)) credential?.held.remember(credential.text)
    else if (response.status === 401 || response.status === 404 || hasFailed(request))
      strangers.note(address, isForwarded(request.headers.keys()))
    return response
  }
  return async (request, client) => {
    const response = await answer(request, client)
    response.headers.set('creel-trace-id', traceIdOf(request))
    return response
  }
}
