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

const CSS = `:root{color-scheme:light dark;--bg:#f5f8f8;--surface:#fff;--line:#e1e7e9;--input:#858f94;--text:#1d2529;--soft:#566067;--accent:#00686e;--on:#f7fdfd;--sunk:#eff3f4}
@media (prefers-color-scheme:dark){:root{--bg:#0d1316;--surface:#12191c;--line:#222b30;--input:#647076;--text:#e4e9eb;--soft:#9ba5ab;--accent:#51b0b4;--on:#08191b;--sunk:#0f1518}}
@font-face{font-family:Inter;src:url(/console/inter.woff2) format("woff2");font-weight:100 900}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:14px/1.5 Inter,ui-sans-serif,system-ui,sans-serif;font-feature-settings:"calt" 0}
main{max-width:30rem;margin:max(1rem,8vh) auto 2rem;padding:1.5rem;border:1px solid var(--line);border-radius:10px;background:var(--surface)}
main.wide{max-width:56rem;margin-block-start:max(1rem,4vh)}
.brand{display:flex;align-items:center;gap:.6rem;color:var(--soft);font-weight:550}
.brand rect{fill:#0f6e73}.brand g{stroke:#d8f3ef}
h1{margin:1rem 0 .5rem;font-size:1.25rem;line-height:1.3}
h2{margin:1.25rem 0 .4rem;font-size:.9rem}
h1,p,li,dd,code{overflow-wrap:anywhere}
fieldset{margin:1rem 0;padding:.5rem 1rem .75rem;border:1px solid var(--line);border-radius:8px}
legend{padding:0 .35rem;color:var(--soft);font-weight:550}
label{display:block;padding:.25rem 0}
label:has(input){display:flex;align-items:baseline;gap:.5rem}
input{flex:none;margin:0;accent-color:var(--accent)}
select{width:100%;padding:.4rem .5rem;border:1px solid var(--input);border-radius:6px;background:var(--surface);color:inherit;font:inherit}
button,.button{display:inline-block;margin:1rem .5rem 0 0;padding:.45rem 1.1rem;border:1px solid var(--line);border-radius:6px;background:var(--surface);color:inherit;font:inherit;font-weight:550;text-decoration:none;cursor:pointer}
.primary{border-color:var(--accent);background:var(--accent);color:var(--on)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code,pre,td{font:12px/1.6 "JetBrains Mono",ui-monospace,Menlo,Consolas,monospace}
pre,table{width:100%;margin:0;padding:.75rem;border:1px solid var(--line);border-radius:8px;background:var(--sunk)}
pre{overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
td{padding:0 .75rem 0 0;vertical-align:top;overflow-wrap:anywhere}
td:first-child{color:var(--soft)}
.note{padding:.6rem .8rem;border-radius:8px;background:var(--sunk);color:var(--soft)}`

const CSS_HASH = createHash('sha256').update(CSS).digest('base64')

/** The logo of the console, a basket. */
const MARK = html`<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><g fill="none" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M7.5 12.5h17l-1.7 10.3a2.6 2.6 0 0 1-2.6 2.2h-8.4a2.6 2.6 0 0 1-2.6-2.2z"/><path d="M11 12c0-3.4 2-5.5 5-5.5s5 2.1 5 5.5"/><path d="M8.8 17.5h14.4M13 13v12M19 13v12" stroke-opacity=".7"/></g></svg>`

/** A page without scripts, which no other page can frame. */
export interface Page {
  readonly status: number
  readonly title: string
  readonly body: Html
  /** Whether it has long lines. */
  readonly isWide?: boolean
  /** Source expressions of CSP that its form may lead to; none by default. */
  readonly formAction?: string
  /** Path and query that the browser opens at once; none by default. */
  readonly opens?: string
  readonly headers?: Readonly<Record<string, string>>
}

export function pageResponse(page: Page): Response {
  const { title, opens } = page
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
<body><main class="${page.isWide === true ? 'wide' : ''}">
<div class="brand">${MARK} Creel</div>
<h1>${title}</h1>
${page.body}
</main></body>
</html>
`
  return new Response(markup, {
    status: page.status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src 'sha256-${CSS_HASH}'`,
        "font-src 'self'",
        `form-action ${page.formAction ?? "'none'"}`,
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
      ...page.headers,
    },
  })
}
