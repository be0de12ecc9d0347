import {
  RELAY_CREATIONS_PER_ADDRESS,
  RELAY_ENDPOINTS_MAX,
  RELAY_IDLE_MS,
  RELAY_LIFE_MS,
  RELAY_LIMITS,
  RELAY_LIVE_PER_ADDRESS,
} from '@creel/core/relay'

const HOUR_MS = 3_600_000
const KIB = 1024

/** The terms of a relay: its use in one command, and every number that bounds it. */
export function termsPage(baseUrl: string): string {
  const url = escaped(baseUrl)
  const { storedRequestsMax, storedBytesMax, payloadBytesMax, captureRatePerMinute, apiRatePerMinute } =
    RELAY_LIMITS
  const rows: readonly (readonly [string, string])[] = [
    [
      'An endpoint ends',
      `${RELAY_IDLE_MS / HOUR_MS} hours after its last capture, call or listener; ${RELAY_LIFE_MS / HOUR_MS} hours after its creation at the latest`,
    ],
    ['Endpoints of an address', `${RELAY_LIVE_PER_ADDRESS} at once, ${RELAY_CREATIONS_PER_ADDRESS} an hour`],
    ['Endpoints in all', String(RELAY_ENDPOINTS_MAX)],
    ['Captures', `${captureRatePerMinute} a minute; bodies of at most ${payloadBytesMax / KIB} KiB`],
    [
      'Stored',
      `the newest ${storedRequestsMax} requests of an endpoint, ${storedBytesMax / KIB / KIB} MiB with their headers`,
    ],
    ['Calls of the API', `${apiRatePerMinute} a minute`],
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Creel relay</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: .75rem; border: 1px solid; border-radius: 6px }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0 }
th { font-weight: 600 }
</style>
</head>
<body>
<h1>Creel relay</h1>
<p>This server gives a public URL for webhooks to a program on your machine.</p>
<pre>creel listen --relay ${url} --to 3000</pre>
<p>The command prints the URL. Each request to the URL is stored here, and the command sends it to port 3000 of your machine. It needs no account.</p>
<h2>Terms</h2>
<table>
${rows.map(([name, bound]) => `<tr><th scope="row">${name}</th><td>${bound}</td></tr>`).join('\n')}
</table>
<ul>
<li>A URL is not a secret between its sender and you alone: the operator of this server can read what it stores.
Send test data only.</li>
<li>Requests are deleted with their endpoint. The address that created an endpoint is kept until an hour after its end.</li>
<li>This server sends nothing to other servers: no forwards, replays to URLs or alerts.</li>
<li>The operator may end an endpoint, or this service, at any time. There is no warranty.</li>
</ul>
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
