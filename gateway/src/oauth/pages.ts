import type { Caller } from '@creel/core'
import {
  type AgentScope,
  type AuthorizationRequest,
  type ChoosableEndpoint,
  isLoopback,
  REFRESH_DAYS,
} from '@creel/core/oauth'
import { type Html, html, pageResponse } from '../html.ts'

/** Path of the page that asks for consent. */
export const AUTHORIZE_PATH = '/oauth/authorize'

const SCOPE_WORDS: Readonly<Record<AgentScope, string>> = {
  read: 'Read: endpoints, captured requests and deliveries',
  write: 'Read and change: also make endpoints and actions, and send and replay requests',
}

export interface ConsentView {
  readonly caller: Caller
  readonly request: AuthorizationRequest
  readonly endpoints: readonly ChoosableEndpoint[]
  /** Query of the request, as it was sent. */
  readonly query: string
  /** Proof for the form, see `consentToken`. */
  readonly token: string
}

/**
 * Asks the user whether a client may act for the workspace, and how far. Nothing is chosen in advance, so that a single
 * click on a place that another page has named sends no form.
 */
export function consentPage({ caller, request, endpoints, query, token }: ConsentView): Response {
  const { client, redirectUri, scopes } = request
  const claimed =
    client.claimedName === null
      ? html``
      : html`<p>It calls itself “${client.claimedName}”. Creel cannot check that name.</p>`
  const scopeChoices = scopes.map(
    (scope) =>
      html`<label><input type="radio" name="scope" value="${scope}" required> ${SCOPE_WORDS[scope]}</label>`,
  )
  const endpointChoices = endpoints.map(({ id, name }) => html`<option value="${id}">${name}</option>`)
  return pageResponse({
    status: 200,
    title: `Let ${client.host} use Creel?`,
    formAction: `'self' ${formTargetOf(redirectUri)}`,
    body: html`<p>The program of <strong>${client.host}</strong> asks to act in the workspace <strong>${caller.workspace.name}</strong>. Its metadata document is <code>${client.id}</code>.</p>
${claimed}
<p class="note">${whereTo(redirectUri)}</p>
<form method="post" action="${AUTHORIZE_PATH}">
<input type="hidden" name="request" value="${query}">
<input type="hidden" name="token" value="${token}">
<fieldset><legend>It may</legend>
${scopeChoices}
</fieldset>
<fieldset><legend>It sees</legend>
<label for="endpoint">Endpoint</label>
<select id="endpoint" name="endpoint"><option value="">All endpoints of the workspace</option>${endpointChoices}</select>
</fieldset>
<p>Its access ends when it is not used for ${String(REFRESH_DAYS)} days, or when you revoke it in the console under Access.</p>
<button class="primary" type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" formnovalidate>Deny</button>
</form>`,
  })
}

function whereTo(redirectUri: string): Html {
  const { host } = new URL(redirectUri)
  return isLoopback(redirectUri)
    ? html`Access goes to a program on the machine of this browser (<strong>${host}</strong>), and any program there can pretend to be another. Allow it only if you have just started this sign-in yourself.`
    : html`Access goes to <strong>${host}</strong>. Allow it only if you have just started this sign-in yourself.`
}

/** The CSP source of a redirect URI: browsers apply `form-action` to redirects, too. CSP has no form for IPv6. */
function formTargetOf(redirectUri: string): string {
  const { hostname, origin, protocol } = new URL(redirectUri)
  return hostname.startsWith('[') ? protocol : origin
}

/**
 * Opens the same address from a page of our own. The cookie of the session counts for such requests only, and browsers
 * do not even send it with a link of another site.
 */
export function passagePage(query: string): Response {
  const opens = `${AUTHORIZE_PATH}?${query}`
  return pageResponse({
    status: 200,
    title: 'An agent wants to use Creel',
    opens,
    body: html`<p><a class="button primary" href="${opens}">Continue</a></p>`,
  })
}

/** Asks a browser without a session to sign in to the console first, and to come back. */
export function signInPage(query: string): Response {
  const here = `${AUTHORIZE_PATH}?${query}`
  return pageResponse({
    status: 401,
    title: 'Sign in to Creel first',
    body: html`<p>An agent wants to use Creel. To let it in, sign in to the console: with a key of the scope <code>admin</code>, or with a link that <code>creel console</code> prints on the server.</p>
<p><a class="button primary" href="/console/sign-in?to=${encodeURIComponent(here)}">Sign in</a>
<a class="button" href="${here}">I have signed in</a></p>`,
  })
}

/** Says why nothing was done. The browser is sent nowhere. */
export function problemPage(
  status: number,
  problem: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return pageResponse({
    status,
    title: 'The agent was not let in',
    headers,
    body: html`<p>${problem}</p><p>Nothing was given to it. You can close this page.</p>`,
  })
}

/** Says that the request of a client has an error, and lets the user return to the client with it. */
export function returnPage(problem: string, returnTo: string): Response {
  return pageResponse({
    status: 400,
    title: 'The agent was not let in',
    body: html`<p>Its request has an error. ${problem}</p>
<p><a class="button" rel="noreferrer" href="${returnTo}">Return to ${new URL(returnTo).host}</a></p>`,
  })
}
