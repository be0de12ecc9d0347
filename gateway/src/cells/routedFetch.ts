import {
  DomainError,
  endSessionOfToken,
  gathering,
  knownKeys,
  knownLinks,
  knownSessions,
  knownShareLinks,
  type Services,
} from '@creel/core'
import { cellOfKey } from '@creel/core/cells'
import { knownGrants, storedGrants } from '@creel/core/oauth'
import { noteOutage } from '../callLog.ts'
import { presentedSession, signInOf } from '../console/index.ts'
import type { FetchHandler } from '../http/fetchAnswer.ts'
import { exchangedTextOf, revokedTextOf } from '../oauth/index.ts'
import { addressOf, isOfCaller, presentedKey, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'
import { sharedTokenOf } from '../sharePage.ts'
import { askTwice, CellOutOfReach, type Cells, createMemory, type OpenCell, RETRY_SECONDS } from './cells.ts'

/** Longer than any credential. Longer texts are refused without a look-up, and so not remembered. */
const CREDENTIAL_CHARACTERS_MAX = 200

/** Kinds of credentials, and the filter of a cell for those that it knows. */
const KINDS = {
  key: knownKeys,
  session: knownSessions,
  link: knownLinks,
  grant: storedGrants,
  share: knownShareLinks,
} as const

type Kind = keyof typeof KINDS

interface Credential {
  readonly kind: Kind
  readonly text: string
  readonly signsIn?: true
  /** All cells are asked, as the answer does not tell that a remembered one knows the credential no more. */
  readonly asksAll?: boolean
}

/** Whether a cell knows a credential. Calls of the same moment share a query, and one of each kind is in flight. */
const isKnownTo = gathering<Credential & { readonly services: Services }, boolean>(async (_, asked) => {
  const [{ kind, services }] = asked
  const known = await KINDS[kind](services, new Set(asked.map(({ text }) => text)))
  return asked.map(({ text }) => known.has(text))
})

/** Statuses with which a cell answers those that it does not know; 401 for the other kinds. */
const REFUSALS: Partial<Readonly<Record<Kind, number>>> = { share: 404, grant: 400 }

/** Paths whose answer depends on a caller. */
const OF_CALLERS = /^\/(api|trpc|mcp|oauth|console\/session|share)(\/|$)/

/**
 * Hands each request to the cell of its caller, which its key, session, share link, sign-in link or grant names. A request without
 * one, or with one that no cell knows, goes to `home`, which refuses it. If a cell that may know it is out of reach, the
 * answer is 503 with `Retry-After`.
 *
 * @param home answers requests of no cell, and is the handler of the cell of `services`
 */
export function routedFetch(home: FetchHandler, services: Services, cells: Cells): FetchHandler {
  const memory = createMemory()

  const knows = async ({ services: asked }: OpenCell, { kind, text }: Credential) =>
    await isKnownTo(asked.db, kind, { kind, text, services: asked })

  const cellOf = async (credential: Credential) => {
    const { kind, text } = credential
    if (text.length > CREDENTIAL_CHARACTERS_MAX) return undefined
    const handle = handleOf(credential)
    const remembered = credential.asksAll === true ? undefined : memory.cellOf(handle)
    const known = remembered === undefined ? undefined : cells.of(remembered)
    if (known !== undefined) return known
    if (memory.isUnknown(handle)) return undefined
    const hint = remembered ?? (kind === 'key' ? cellOfKey(text) : null)
    const found = await askTwice(
      { cells, memory },
      { handle, hint },
      async (asked) => (await knows(asked, credential)) || undefined,
    )
    const place = found?.cell.services.cell ?? null
    if (place !== null) memory.remember(handle, place.number)
    return found?.cell
  }

  const answerIn = (cell: OpenCell | undefined, ...[request, client]: Parameters<FetchHandler>) =>
    cell === undefined || cell.services === services ? home(request, client) : cell.handle(request)

  /**
   * A workspace that has moved is not known any more in the cell that is remembered for it. A refusal of the cell that
   * knows it stands, e.g. that of a call by a page of another site.
   */
  const answerElsewhere = async (
    {
      credential,
      asked,
      refusal,
    }: { credential: Credential; asked: OpenCell | undefined; refusal: Response },
    ...[request, client]: Parameters<FetchHandler>
  ) => {
    memory.forget(handleOf(credential))
    const cell = await cellOf(credential)
    if (cell === undefined || cell === asked) return refusal
    // The body of the call has gone to the former cell, or its time to wait.
    if (request.body !== null || isOfCaller(request))
      throw new DomainError('unavailable', MOVED, { retryAfterSeconds: RETRY_SECONDS })
    return await answerIn(cell, request, client)
  }

  /** Ends the session that a browser had in another cell, as a sign-in in the same cell does. */
  const endFormer = async (present: OpenCell | undefined, request: Request) => {
    const text = presentedSession(services.urls, request)
    if (text === null) return
    try {
      const former = await cellOf({ kind: 'session', text, asksAll: true })
      if (former !== undefined && former !== present)
        await endSessionOfToken(former.services, { token: text, address: addressOf(request) })
    } catch (error) {
      // It stays until it expires. The browser is signed in, and has another cookie.
      noteOutage(services.log, error)
    }
  }

  return async (request, client) => {
    if (!OF_CALLERS.test(new URL(request.url).pathname)) return await home(request, client)
    const credential = await credentialOf(services, request)
    if (credential === undefined) return await home(request, client)
    try {
      const isRemembered = memory.cellOf(handleOf(credential)) !== undefined
      const cell = await cellOf(credential)
      const answer = await answerIn(cell, request, client)
      if (credential.signsIn === true && answer.ok) await endFormer(cell, request)
      const { kind } = credential
      const isRefused = answer.status === (REFUSALS[kind] ?? 401)
      // A call that waited, or whose body came slowly, may find neither its key nor what it needs, when the workspace has
      // moved meanwhile. Then its changes fail.
      const mayHaveMoved =
        isOfCaller(request) || kind === 'grant'
          ? (isRefused || answer.status === 404 || answer.status === 500) &&
            cell !== undefined &&
            !(await knows(cell, credential))
          : isRefused && isRemembered
      if (!mayHaveMoved) return answer
      return await answerElsewhere({ credential, asked: cell, refusal: answer }, request, client)
    } catch (error) {
      if (!(error instanceof CellOutOfReach) && !(error instanceof DomainError)) throw error
      if (error instanceof CellOutOfReach) noteOutage(services.log, error)
      const refusal = error instanceof DomainError ? error : outOfReach()
      return problemResponse(services, refusal, { traceId: traceIdOf(request) })
    }
  }
}

const MOVED = 'The workspace has just moved to another database. Send the call again.'

const outOfReach = () =>
  new DomainError('unavailable', 'The database of this workspace cannot be reached.', {
    retryAfterSeconds: RETRY_SECONDS,
  })

const handleOf = ({ kind, text }: Credential) => `${kind} ${text}`

async function credentialOf({ urls }: Services, request: Request): Promise<Credential | undefined> {
  const shared = sharedTokenOf(request)
  if (shared !== null) return { kind: 'share', text: shared }
  const key = presentedKey(request)
  if (key !== null) return { kind: 'key', text: key }
  const signIn = await signInOf(request)
  if (signIn !== null) {
    const credential =
      'key' in signIn
        ? ({ kind: 'key', text: signIn.key } as const)
        : ({ kind: 'link', text: signIn.link } as const)
    return { ...credential, signsIn: true }
  }
  const grant = (await exchangedTextOf(request)) ?? (await revokedTextOf(request))
  if (grant !== null) return { kind: 'grant', text: grant, asksAll: true }
  const session = presentedSession(urls, request)
  return session === null
    ? undefined
    : { kind: 'session', text: session, asksAll: request.method === 'DELETE' }
}

/**
 * Filters credentials to the good ones, over all cells. While one is out of reach, all may be good: those that are not
 * are answered 503.
 */
export function knownInCells(cells: Cells) {
  const inAll =
    (filter: (typeof KINDS)[Kind]) =>
    async (presented: ReadonlySet<string>): Promise<ReadonlySet<string>> => {
      const open = cells.open()
      if (open.length < cells.places.length) return presented
      const known = await Promise.all(open.map(({ services }) => filter(services, presented)))
      return new Set(known.flatMap((those) => [...those]))
    }
  return { keys: inAll(knownKeys), sessions: inAll(knownSessions), grants: inAll(knownGrants) }
}
