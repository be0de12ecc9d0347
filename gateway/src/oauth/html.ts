import { createHash } from 'node:crypto'

/** Text that is safe in HTML: made by {@link html} only. */
export interface Html {
  readonly markup: string
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Markup with values in it. Text is escaped, for elements and for quoted attributes; lists are joined. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[])[]
): Html {
  const markup = parts.reduce((before, part, at) => before + markupOf(values[at - 1] ?? '') + part)
  return { markup }
}

function markupOf(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}

const CSS = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;background:Canvas;color:CanvasText}
main{max-width:34rem;margin:8vh auto;padding:0 1.25rem}
h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}
p,li{overflow-wrap:anywhere}
fieldset,select,button,.button{border:1px solid GrayText;border-radius:.4rem}
fieldset{margin:1rem 0;padding:.5rem 1rem}
label{display:block;padding:.25rem 0}
select{width:100%;padding:.4rem;font:inherit}
button,.button{display:inline-block;margin:1rem .5rem 0 0;padding:.5rem 1.25rem;font:inherit;background:ButtonFace;color:ButtonText;text-decoration:none}
.note{border-left:3px solid GrayText;padding-left:.75rem}`

const CSS_HASH = createHash('sha256').update(CSS).digest('base64')

/** A page without scripts, which no other page can frame. */
export interface Page {
  readonly status: number
  readonly title: string
  readonly body: Html
  /** Source expressions of CSP that its form may lead to; none by default. */
  readonly formAction?: string
  /** Path and query that the browser opens at once; none by default. */
  readonly opens?: string
  readonly headers?: Readonly<Record<string, string>>
}

export function pageResponse({ status, title, body, formAction, opens, headers = {} }: Page): Response {
  const refresh = opens === undefined ? html`` : html`<meta http-equiv="refresh" content="0;url=${opens}">`
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${refresh}
<style>${{ markup: CSS }}</style>
</head>
<body><main>
<h1>${title}</h1>
${body}
</main></body>
</html>
`
  return new Response(markup, {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src 'sha256-${CSS_HASH}'`,
        `form-action ${formAction ?? "'none'"}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      // Browsers then name our origin when the form is sent; with no referrer at all they would not.
      'Referrer-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
      'Cache-Control': 'no-store',
      ...headers,
    },
  })
}
