/// <reference path="./assets.d.ts" />
import { resolve } from 'node:path'
import icon from 'swagger-ui-dist/favicon-32x32.png' with { type: 'file' }
import styles from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import script from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { answerOfKept } from '../http/longAnswer.ts'

const DOCS_PATH = '/docs'

/** Starts Swagger UI on our description. A file of its own, so that the page runs no inline script. */
const START = `window.ui = SwaggerUIBundle({
  url: '/openapi/v1.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
})
`

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Creel API</title>
    <link rel="icon" href="${DOCS_PATH}/icon.png">
    <link rel="stylesheet" href="${DOCS_PATH}/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs JavaScript; the description itself is at <a href="/openapi/v1.json">/openapi/v1.json</a>.</noscript>
    <script src="${DOCS_PATH}/swagger-ui-bundle.js"></script>
    <script src="${DOCS_PATH}/start.js"></script>
  </body>
</html>
`

/** Our own files only. Keys that are tried out go to our own origin only. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * The bytes of a file, which are kept once they were read. In a bundle the path of an asset is relative to the bundle;
 * elsewhere it is absolute.
 */
function asset(path: string): Asset['body'] {
  let read: Promise<Uint8Array<ArrayBuffer>> | undefined
  return () => {
    read ??= Bun.file(resolve(import.meta.dir, path))
      .bytes()
      .catch((error: unknown) => {
        // The next call reads it again.
        read = undefined
        throw error
      })
    return read
  }
}

function text(body: string): Asset['body'] {
  const bytes = new TextEncoder().encode(body)
  return () => bytes
}

interface Asset {
  readonly body: () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>
  readonly type: string
}

const ASSETS: Readonly<Record<string, Asset>> = {
  '': { body: text(PAGE), type: 'text/html; charset=utf-8' },
  '/start.js': { body: text(START), type: 'text/javascript; charset=utf-8' },
  '/swagger-ui-bundle.js': { body: asset(script), type: 'text/javascript; charset=utf-8' },
  '/swagger-ui.css': { body: asset(styles), type: 'text/css; charset=utf-8' },
  '/icon.png': { body: asset(icon), type: 'image/png' },
}

/** The API's description, to be read and tried out: Swagger UI from our own origin (no CDN, no telemetry). */
export const DOCS: Readonly<Record<string, () => Promise<Response>>> = Object.fromEntries(
  Object.entries(ASSETS).map(([name, { body, type }]) => [
    DOCS_PATH + name,
    async () =>
      answerOfKept(await body(), {
        headers: {
          'Content-Type': type,
          'Content-Security-Policy': CONTENT_SECURITY_POLICY,
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
          'Cache-Control': 'public, max-age=3600',
        },
      }),
  ]),
)
