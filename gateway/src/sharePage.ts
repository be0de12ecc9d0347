import { openShareLink, type Services, type SharedLink } from '@creel/core'
import { isTooDeepToIndent } from '@creel/core/engine/json'
import { LineTooLong, Turns, WAIT_MS_MAX } from '@creel/core/platform/turns'
import { z } from 'zod'
import { type Html, html, pageResponse } from './html.ts'
import { MASKED } from './mcp/index.ts'
import { markFailed } from './requestIdentity.ts'

export const SHARE_PATH = '/share/:token'

const TOKEN = /^\/share\/([\w-]{43})$/

/** The token of a share link that a request opens; null for every other request. */
export function sharedTokenOf(request: Request): string | null {
  return TOKEN.exec(new URL(request.url).pathname)?.[1] ?? null
}

/** Crawlers index no share link, and no other site learns its address. */
const HEADERS = { 'X-Robots-Tag': 'noindex, nofollow, noarchive', 'Referrer-Policy': 'no-referrer' }

const Field = z.object({ name: z.string(), value: z.string() })

const WAIT = { msMax: WAIT_MS_MAX, noun: 'pages' }

/** Links of a workspace are opened one after another, so that few requests that were read wait for their pages. */
const openings = new Turns({ atOnce: 1, wait: WAIT })

/**
 * Pages are made one after another, in a fifth of the process's time, for which workspaces take turns: a page of a long
 * body takes up to 0.2 s, and a link opens for anyone.
 */
const turns = new Turns({ atOnce: 1, inAll: 1, wait: WAIT })
/** Pause after a page, as a multiple of the time that it took. */
const REST_FACTOR = 4

/** The parts of a request that a page shows, after masking. Its capture URL and deliveries are left out. */
const Shown = z.object({
  id: z.number(),
  receivedAt: z.coerce.date(),
  method: z.string(),
  path: z.string(),
  queryString: z.string().nullable(),
  label: z.string().nullable(),
  sizeBytes: z.number(),
  rawHeaders: z.array(Field),
  body: z.string().nullable(),
  bodyIsBinary: z.boolean(),
  bodyOmitted: z.boolean(),
  bodyTruncated: z.boolean(),
  shredded: z.boolean(),
})

/**
 * Shows the request of a share link, with values that have the names of credentials masked. Every call counts as one of
 * an unknown caller, so that one address cannot read without end.
 */
export async function answerShare(services: Services, request: Request): Promise<Response> {
  markFailed(request)
  try {
    const token = sharedTokenOf(request)
    const link = token === null ? undefined : await openShareLink(services, token)
    return link === undefined ? gonePage() : await pageInTurn(link, request.signal)
  } catch (error) {
    if (error instanceof LineTooLong) return busyPage(Math.ceil(error.waitMs / 1000))
    // A reader that has hung up may still read: the link is not gone. Not the path, which holds the token.
    if (!request.signal.aborted) services.log.error({ err: error, path: '/share' }, 'unexpected error')
    return notePage(503, 'This page cannot be shown now', 'Reload it in a moment.')
  }
}

/**
 * The page of a link. Its request is read before its turn: reading may wait for other work of its workspace, which would
 * hold up the pages of all.
 *
 * @throws LineTooLong when earlier pages take longer than {@link WAIT_MS_MAX}; the signal's reason
 */
export async function pageInTurn(link: SharedLink, signal: AbortSignal): Promise<Response> {
  const open = async () => {
    const request = await link.read()
    return request === undefined ? gonePage() : await madeInTurn(link, request, signal)
  }
  return await openings.run(link.workspaceId, open, { signal })
}

async function madeInTurn(link: SharedLink, request: SharedRequest, signal: AbortSignal): Promise<Response> {
  const end = await turns.begin(link.workspaceId, { signal })
  const startedAt = performance.now()
  try {
    return await sharedPage(link, request)
  } finally {
    setTimeout(end, (performance.now() - startedAt) * REST_FACTOR).unref()
  }
}

type SharedRequest = NonNullable<Awaited<ReturnType<SharedLink['read']>>>

async function sharedPage(
  { endpointName, expiresAt }: SharedLink,
  request: SharedRequest,
): Promise<Response> {
  // As it goes over the wire: masking reads plain values.
  const plain: unknown = JSON.parse(JSON.stringify({ ...request, headers: {} }))
  const shown = Shown.parse(await MASKED.value(plain))
  const { body, id, label, method, path, queryString, rawHeaders, receivedAt, sizeBytes } = shown
  const query = queryString === null || queryString === '' ? '' : `?${queryString}`
  return pageResponse({
    status: 200,
    title: label ?? `${method} ${path === '' ? '/' : path}`,
    isWide: true,
    headers: HEADERS,
    body: html`<p><code>${method} ${path === '' ? '/' : path}${query}</code></p>
<p>Request #${String(id)} of “${endpointName}”, captured at ${utc(receivedAt)}, ${String(sizeBytes)} bytes.</p>
<p class="note">A copy for reading. Values with the names of credentials are masked. The link ends at ${utc(expiresAt)}.</p>
<h2>Headers</h2>
<table>${rawHeaders.map(({ name, value }) => html`<tr><td>${name}</td><td>${value}</td></tr>`)}</table>
<h2>Body</h2>
${bodyOf(shown, body)}`,
  })
}

function bodyOf(
  { bodyIsBinary, bodyOmitted, bodyTruncated, shredded, sizeBytes }: z.output<typeof Shown>,
  body: string | null,
): Html {
  if (shredded) return html`<p>The content was encrypted, and its key was destroyed.</p>`
  if (bodyOmitted) return html`<p>The body is too long for this page.</p>`
  if (bodyIsBinary) return html`<p>The body is binary.</p>`
  if (body === null || body === '') return html`<p>The body is ${sizeBytes > 0 ? 'not stored' : 'empty'}.</p>`
  const cut = bodyTruncated ? html`<p>Only the beginning was kept.</p>` : html``
  return html`<pre>${indented(body)}</pre>${cut}`
}

/** JSON with a line for each member, if that changes nothing else; other texts as they are. */
function indented(text: string): string {
  if (isTooDeepToIndent(text)) return text
  try {
    const value: unknown = JSON.parse(text)
    // Digits that JavaScript would change, and members that are there twice, stay as they came.
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text
  } catch {
    return text
  }
}

const utc = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const gonePage = () =>
  notePage(404, 'This link shows nothing', 'It has expired, was revoked, or its request was deleted.')

function busyPage(seconds: number): Response {
  const page = notePage(429, 'Many shared requests are read now', `Reload this page in ${seconds} s.`)
  page.headers.set('Retry-After', String(seconds))
  return page
}

function notePage(status: number, title: string, words: string): Response {
  return pageResponse({ status, title, headers: HEADERS, body: html`<p>${words}</p>` })
}
