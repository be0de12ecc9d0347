import { registry, startMetrics } from '../../core/src/platform/metrics/index.ts'

/** The table of Creel's own metrics for the page of operations, in Markdown. The caller loads their modules. */
export async function metricsTable(): Promise<string> {
  startMetrics('0.0.0')
  const metrics = (await registry.getMetricsAsJSON())
    .filter(({ name }) => name.startsWith('creel_'))
    .sort((a, b) => a.name.localeCompare(b.name))
  const rows = metrics.map(
    ({ name, type, help }) => `| \`${name}\` | ${type} | ${help.replaceAll('|', '\\|')} |`,
  )
  return `| metric | type | |
|---|---|---|
${rows.join('\n')}

- \`creel_captures_total\`: \`outcome\` is \`stored\`, \`oversize\`, \`discarded\` (a duplicate, answered as the first), \`not_found\`,
  \`rate_limited\` (429), \`unverified\` (401), \`sender_not_allowed\` (403), \`unavailable\` (503).
- \`creel_evicted_requests_total\`: \`limit\` is \`requests\` (an endpoint's \`storedRequestsMax\`), \`bytes\` (a workspace's \`storedBytesMax\`),
  \`storage\` (\`CREEL_STORAGE_MAX\`).
- \`creel_swept_rows_total\`: \`sweep\` is \`retention\`, \`bin\`, \`hidden\`, \`deadLetters\`, \`attempts\`, \`details\`, \`endpoints\`, \`claims\`
  (of events, by \`dedupe\`).
- \`creel_refused_requests_total\`: \`reason\` is the status of invalid HTTP (\`400\`, \`431\`, \`505\`), \`503\` for connections without
  room, \`throttled\` for callers without a good key from an address that was wrong too often.
- \`creel_api_request_seconds\`: \`route\` is the procedure (\`endpoints.list\`), \`status\` the answer's, 429 included.
- \`creel_delivery_attempts_total\`: \`state\` is the attempt's (\`Succeeded\`, \`Failed\`, \`Errored\`, \`DeadLetter\`, \`Interrupted\`). Rehearsals do not count.
`
}
