import { registry } from './registry.ts'
import { startMetrics } from './startMetrics.ts'

/** The text of `docs/metrics.md`: all metrics that `/metrics` serves, in Markdown. The caller loads their modules. */
export async function metricsPage(): Promise<string> {
  startMetrics('0.0.0')
  const metrics = (await registry.getMetricsAsJSON()).sort((a, b) => a.name.localeCompare(b.name))
  const own = metrics.filter(({ name }) => name.startsWith('creel_'))
  const ofProcess = metrics.filter(({ name }) => !name.startsWith('creel_'))
  const rows = (of: typeof metrics) =>
    of.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help.replaceAll('|', '\\|')} |`).join('\n')
  return `# Metrics

\`/metrics\` answers in Prometheus' text format: on the gateway's port for clients of the same machine and for the bearer token
\`CREEL_METRICS_TOKEN\`, with 404 for others; \`CREEL_METRICS_PORT\` gives it a port of its own, for all that reach it. Every program counts for itself:
sum over them. Where a program has several gateway processes, each scrape has the sum of all: any of them answers, with 503 if one does not. Of the start
time and the version the first process's is shown, and of the event loop's lag the average. Counters start at 0 with the program; those of a process that was
killed keep what the scrape before had. A dashboard and alert rules stand in \`deploy/\`.

This page is made from the code by \`bun run docs\`. A histogram \`x\` is served as \`x_bucket\`, \`x_sum\` and \`x_count\`.

## Of Creel

| metric | type | |
|---|---|---|
${rows(own)}

- \`creel_captures_total\`: \`outcome\` is \`stored\`, \`oversize\`, \`discarded\` (a duplicate, answered as the first), \`not_found\`,
  \`rate_limited\` (429), \`unverified\` (401), \`sender_not_allowed\` (403), \`unavailable\` (503).
- \`creel_evicted_requests_total\`: \`limit\` is \`requests\` (an endpoint's \`storedRequestsMax\`), \`bytes\` (a workspace's \`storedBytesMax\`),
  \`storage\` (\`CREEL_STORAGE_MAX\`).
- \`creel_swept_rows_total\`: \`sweep\` is \`retention\`, \`bin\`, \`hidden\`, \`attempts\`, \`details\`, \`endpoints\`, \`claims\`
  (of events, by \`dedupe\`).
- \`creel_refused_requests_total\`: \`reason\` is the status of what was no good HTTP (\`400\`, \`431\`, \`505\`), \`503\` for connections that there was
  no room for, \`throttled\` for callers without a good key from an address that was wrong too often.
- \`creel_api_request_seconds\`: \`route\` is the procedure (\`endpoints.list\`), \`status\` the answer's, 429 included.
- \`creel_delivery_attempts_total\`: \`state\` is the attempt's (\`Succeeded\`, \`Failed\`, \`Errored\`, \`DeadLetter\`, \`Interrupted\`).

## Of the process

| metric | type | |
|---|---|---|
${rows(ofProcess)}
`
}
