import { PROVIDERS, type ProviderRow } from '../../core/src/engine/providers/index.ts'

/** Generates `docs/providers.md`, the catalog for readers. */
export function providersPage(): string {
  return `# Providers

Values of an endpoint's \`provider\` (\`GET /api/v1/providers\` says the same to programs), and how its captures are
verified. Each capture gets a verdict at receipt:

| Verdict | |
|---|---|
| \`verified\` | The signature is right, and its timestamp is within the provider's tolerance (never less than 60 s). |
| \`failed\` | It is not. The \`note\` names the mistake when a known one explains it: another encoding, a missing prefix, a re-serialised body, a trailing newline, blanks around the secret. |
| \`unsigned\` | The request carries no signature. |
| \`unverifiable\` | It could not be checked: the body is over the plan's size cap, or only the provider's servers have the key. Nothing is fetched to verify. |
| none (\`null\`) | There was nothing to check: no scheme, or no signing secret yet. |

A provider that is not here, or an account that signs differently, is described by hand: \`signatureHeader\`, and if need
be \`signatureAlgorithm\`, \`signatureEncoding\` and \`signaturePrefix\`. The signature is then over the raw body; for
\`rsa-…\` and \`ed25519\` the signing secret is the public key, as PEM, SPKI or raw base64.

A change to a provider that sends the secret itself (\`shared-token\`, \`basic-auth\`), or whose challenge is answered with the handshake
token (Braintree), needs the secret or the token again: it was stored for another scheme.

Schemes that sign the URL need \`CREEL_CAPTURE_URL\` to be the address that the provider was given.

Challenges ("handshake") are answered in place of the configured response; one marked *secret* needs the signing secret
to be set, one marked *token* the handshake token; one marked *learns* delivers the signing secret, which is stored
while none is set. \`GET /api/v1/providers\` says it in one word, \`handshake\`: \`none\`, \`automatic\` (nothing of yours is
needed) or \`token\`. An answer that signs takes challenges of 1 to 128 characters of \`A-Z a-z 0-9 + / = _ . ~ -\` only (LinkedIn:
a UUID); anything else is a capture like any other, and no signature over such a text counts. So no sender can have a body
signed by asking for it.

This page is made from the code by \`bun run docs\`.

| Provider | Slug | Scheme | Signing secret | Event type | Event id | Handshake |
|---|---|---|---|---|---|---|
${PROVIDERS.map(line).join('\n')}
`
}

function line(provider: ProviderRow): string {
  const cells = [
    provider.name,
    `\`${provider.slug}\``,
    schemeWords(provider),
    provider.verification?.secretLabel ?? '',
    eventTypeWords(provider),
    eventIdWords(provider),
    handshakeWords(provider),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function schemeWords({ verification, schemes }: ProviderRow): string {
  if (verification === null) return 'does not sign'
  if (!verification.supported) return `${verification.scheme}: unverifiable`
  const words = schemes.map(({ scheme, partial, caveat = partial }) =>
    caveat === undefined ? scheme : `${scheme} (${caveat})`,
  )
  return [...new Set(words)].join(', ')
}

function eventTypeWords({ eventTypes }: ProviderRow): string {
  const [place] = eventTypes
  switch (place?.in) {
    case undefined:
      return ''
    case 'header':
      return `header \`${place.name}\``
    case 'body':
      return `\`body${place.name.startsWith('[') ? '' : '.'}${place.name}\``
    case 'form':
      return `form field \`${place.name}\``
    case 'body-key':
      return "the member's name"
    case 'jwt':
      return `claim \`${place.name}\``
  }
}

/** Empty if it is unknown. */
function eventIdWords({ eventId }: ProviderRow): string {
  if (eventId === undefined) return ''
  if (eventId === null) return 'none'
  const words = eventId.places.map((place) =>
    place.in === 'header' ? `header \`${place.name}\`` : `\`body.${place.name}\``,
  )
  const text = words.join(', else ')
  return eventId.source === undefined ? text : `${text} ([source](${eventId.source}))`
}

function handshakeWords({ handshakes, handshakeTokenNeeded }: ProviderRow): string {
  if (handshakes.length === 0) return ''
  const needs = JSON.stringify(handshakes)
  const marks = [
    needs.includes('"hmac"') || handshakes.some(({ signature }) => signature?.required === true)
      ? 'secret'
      : '',
    handshakeTokenNeeded ? 'token' : '',
    needs.includes('"learnSigningSecret"') ? 'learns' : '',
  ].filter((mark) => mark !== '')
  return marks.length === 0 ? 'answered' : `answered: *${marks.join(', ')}*`
}
