/**
 * `bun run docs`: writes the pages that are generated from the code: docs/errors.md, docs/plans.md,
 * docs/providers.md, docs/routes.md, docs/rules-functions.md, and the table of metrics in docs/operations.md. A test
 * fails when they are stale.
 */
import { join } from 'node:path'
import { ERRORS, ROUTES, STREAMS, scopeOf } from '../core/src/index.ts'
// With the gateway, all modules that declare metrics are loaded.
import '../gateway/src/index.ts'
import { functionsPage } from './docs/functions.ts'
import { metricsTable } from './docs/metrics.ts'
import { plansPage } from './docs/plans.ts'
import { providersPage } from './docs/providers.ts'

/** The generated pages by their path from the repository's root. */
export const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/errors.md': errors,
  'docs/operations.md': operations,
  'docs/plans.md': plansPage,
  'docs/providers.md': providersPage,
  'docs/routes.md': routes,
  'docs/rules-functions.md': functionsPage,
}

async function operations(): Promise<string> {
  const page = await Bun.file(join(import.meta.dir, '../docs/operations.md')).text()
  const table = await metricsTable()
  return page.replace(
    /(<!-- begin of metrics[^\n]*-->\n).*?(?=<!-- end of metrics -->)/s,
    (_, begin: string) => `${begin}\n${table}\n`,
  )
}

function errors(): string {
  const sections = Object.entries(ERRORS).map(
    ([code, { status, title, meaning, remedy }]) =>
      `## \`${code}\`\n\n${status} ${title}. ${meaning}\n\n${remedy}\n`,
  )
  const rows = Object.entries(ERRORS).map(
    ([code, { status, remedy }]) => `| [\`${code}\`](#${code}) | ${status} | ${remedy} |`,
  )
  return `# Errors

Every answer under \`/api/v1\` that is not a success is \`application/problem+json\` (RFC 9457): \`type\`, \`title\`,
\`status\`, \`detail\`, \`code\`, \`traceId\`. Branch on \`code\`; \`detail\` is for people and may be reworded; \`traceId\` finds
the call in the service's log. With \`validation_failed\` comes \`errors\`: every wrong part of the input, in document
order, each with a \`pointer\` into the body or the name of a query \`parameter\`.

A request that is not good HTTP has the code \`request_invalid\`, too. Its status is 400, 431 for a head over 160 KB or 1,000
fields, or 505 for another version than HTTP/1.0 and HTTP/1.1.

This page is made from the code by \`bun run docs\`.

| code | status | remedy |
|---|---|---|
${rows.join('\n')}

${sections.join('\n')}`
}

function routes(): string {
  const rows = ROUTES.map(
    (route) =>
      `| ${route.method} | \`${route.path}\` | \`${route.name}\` | \`${scopeOf(route)}\` | ${route.summary} |`,
  )
  const streams = STREAMS.map(
    ({ path, name, events, summary }) =>
      `| \`${path}\` | \`${name}\` | ${Object.keys(events)
        .map((event) => `\`${event}\``)
        .join(', ')} | ${summary} |`,
  )
  return `# Routes

Every operation of the API: its REST binding, its name for typed callers under \`/trpc\`, the scope that a key needs
for it, and what it does. The whole contract, with every schema and example, is at \`/openapi/v1.json\` of a running service, and readable at \`/docs\`.

This page is made from the code by \`bun run docs\`.

| Method | Path | Procedure | Scope | |
|---|---|---|---|---|
${rows.join('\n')}

## Streams

A GET that answers \`text/event-stream\` until either side ends it. Typed callers subscribe to the procedure. Come back
with the id of the last event (\`Last-Event-ID\`), and nothing in between is missed. A key, or a signed-in browser, may
hold 8 streams open at once.

| Path | Procedure | Events | |
|---|---|---|---|
${streams.join('\n')}
`
}

if (import.meta.main) {
  for (const [path, page] of Object.entries(PAGES)) {
    await Bun.write(join(import.meta.dir, '..', path), await page())
  }
}
