import { z } from 'zod'
import type { Services } from '../api/services.ts'
import { setNewest } from '../platform/memory/index.ts'
import { userAgent } from '../platform/outbound/index.ts'

/** Longest redirect URI, in characters. */
const REDIRECT_CHARACTERS_MAX = 2_048

/** A host that a header field can hold unchanged. The URL standard permits others, with `;` and `'` in them. */
const PLAIN_HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])$/

/** A redirect URI of a program on the user's machine, in three parts: host, port, and the rest. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d{1,5})?(\/[^#]*)?$/

/**
 * Whether the service may send a browser to a URI at all: https, or http on a loopback address; without a fragment, a
 * user name and a password; in printable ASCII. The schemes of apps (`cursor:`) and of browsers (`javascript:`) are
 * refused.
 */
function isRedirectable(uri: string): boolean {
  if (uri.length > REDIRECT_CHARACTERS_MAX || !/^https?:\/\/[!-~]+$/.test(uri) || /[#\\]/.test(uri))
    return false
  const url = URL.parse(uri)
  if (url === null || url.username !== '' || url.password !== '' || !PLAIN_HOST.test(url.hostname))
    return false
  // A bare `@` before the path is userinfo, even an empty one.
  if (/^https?:\/\/[^/?]*@/.test(uri)) return false
  return url.protocol === 'https:' || LOOPBACK.test(uri)
}

/**
 * Whether a redirect URI is one that the client registered: the same text, except for the port of a loopback address,
 * which a program chooses when it starts (RFC 8252 §7.3).
 */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (!isRedirectable(uri)) return false
  const loopback = LOOPBACK.exec(uri)
  return registered.some((one) => {
    if (one === uri) return true
    const other = loopback === null ? null : LOOPBACK.exec(one)
    return loopback !== null && other !== null && loopback[1] === other[1] && loopback[3] === other[3]
  })
}

/** Whether a redirect URI leads to a program on the user's own machine. */
export const isLoopback = (uri: string): boolean => LOOPBACK.test(uri)

/** A redirect URI with parameters of an answer added to its query. Parameters of the same name are replaced. */
export function redirectTo(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}

/** Longest client metadata document, in bytes. */
const DOCUMENT_BYTES_MAX = 5_120

/** Time limit for fetching a document, in milliseconds. */
const FETCH_MS = 5_000

/** Time for which a fetched document is used, in seconds. */
const DOCUMENT_SECONDS = 300

const DOCUMENTS_MAX = 200

const CLIENT_ID_CHARACTERS_MAX = 512

const REDIRECT_URIS_MAX = 50
const NAME_CHARACTERS_MAX = 80

export interface OAuthClient {
  readonly id: string
  /** The host of that URL: the only name that the client cannot choose freely. */
  readonly host: string
  /** The name that the client gives itself, in printable characters; null without one. Not to be trusted. */
  readonly claimedName: string | null
  readonly redirectUris: readonly string[]
}

/** A client, or the reason why there is none. */
export type FoundClient = { readonly client: OAuthClient } | { readonly problem: string }

/** Finds clients by their ids. */
export interface ClientDocuments {
  /** @param clientId URL of the document, as the client sent it */
  read(clientId: string): Promise<FoundClient>
}

const Document = z.object({
  client_id: z.string(),
  client_name: z.string().optional().catch(undefined),
  redirect_uris: z.array(z.string()).min(1).max(REDIRECT_URIS_MAX),
  // A public document cannot hold a secret.
  client_secret: z.never().optional(),
  client_secret_expires_at: z.never().optional(),
})

/**
 * Builds the reader of client metadata documents (OAuth Client ID Metadata Document). Documents are fetched through the
 * SSRF guard, without following redirects, and kept for {@link DOCUMENT_SECONDS}. Callers that ask for the same document
 * at the same time share one fetch. A failure is not kept.
 */
export function createClientDocuments(
  services: Pick<Services, 'outbound' | 'clock' | 'version'>,
): ClientDocuments {
  const known = new Map<string, { readonly found: Promise<FoundClient>; readonly untilMs: number }>()
  const nowMs = () => services.clock.now().getTime()
  /** Whether the time of a document goes on. It is no longer than it was, even if the clock was set back. */
  const isFresh = (untilMs: number) => {
    const leftMs = untilMs - nowMs()
    return leftMs > 0 && leftMs <= DOCUMENT_SECONDS * 1000
  }
  return {
    async read(clientId) {
      const kept = known.get(clientId)
      if (kept !== undefined && isFresh(kept.untilMs)) return await kept.found
      const url = documentUrl(clientId, services)
      if (url === undefined) {
        return { problem: 'The client_id is not the https URL of a client metadata document.' }
      }
      const found = fetchDocument(services, url)
      const entry = { found, untilMs: nowMs() + DOCUMENT_SECONDS * 1000 }
      setNewest(known, clientId, entry, DOCUMENTS_MAX)
      const answer = await found
      if ('problem' in answer && known.get(clientId) === entry) known.delete(clientId)
      return answer
    },
  }
}

/**
 * The URL of a client id, if it is spelled as an id must be: https (or http to a host that the operator lists), with a
 * path, without a fragment, a user name, a password and dot segments, and in the spelling of the URL standard.
 */
function documentUrl(clientId: string, { outbound }: Pick<Services, 'outbound'>): URL | undefined {
  if (clientId.length > CLIENT_ID_CHARACTERS_MAX) return undefined
  const url = URL.parse(clientId)
  if (url === null || url.href !== clientId || url.pathname === '/' || /[#@]/.test(clientId)) return undefined
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && outbound.isListed(clientId))
  return isAllowed ? url : undefined
}

async function fetchDocument(
  { outbound, version }: Pick<Services, 'outbound' | 'version'>,
  url: URL,
): Promise<FoundClient> {
  const result = await outbound.send({
    method: 'GET',
    url: url.href,
    headers: [userAgent(version), ['Accept', 'application/json']],
    body: null,
    totalTimeoutMs: FETCH_MS,
    maxResponseBytes: DOCUMENT_BYTES_MAX,
  })
  // Details of the failure would let the caller probe networks that only the service reaches.
  if (result.outcome !== 'response' || result.statusCode !== 200) {
    return { problem: 'The client metadata document could not be fetched.' }
  }
  if (result.bodyTruncated)
    return { problem: `The client metadata document is over ${DOCUMENT_BYTES_MAX} bytes.` }
  const document = Document.safeParse(parsed(result.body))
  if (!document.success) return { problem: 'The client metadata document is not one of a public client.' }
  if (document.data.client_id !== url.href) {
    return { problem: 'The client metadata document is that of another client_id.' }
  }
  const redirectUris = document.data.redirect_uris.filter(isRedirectable)
  const claimedName = printable(document.data.client_name ?? '')
  return {
    client: {
      id: url.href,
      host: url.host,
      claimedName: claimedName === '' ? null : claimedName,
      redirectUris,
    },
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** Text without control characters, marks of writing direction and other invisible characters, on one line. */
function printable(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, NAME_CHARACTERS_MAX)
}
