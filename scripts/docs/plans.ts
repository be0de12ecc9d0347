import { LIMIT_MEANINGS, LIMIT_NAMES, type LimitName, PLAN_KEYS, PLANS } from '../../core/src/plans/index.ts'

const BYTES: ReadonlySet<LimitName> = new Set<LimitName>([
  'captureBytesPerMinute',
  'storedBytesMax',
  'payloadBytesMax',
])
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** The page with all numbers of all plans (`docs/plans.md`), in Markdown. */
export function plansPage(): string {
  const rows = LIMIT_NAMES.map((name) => {
    const numbers = PLAN_KEYS.map((key) => shown(name, PLANS[key].limits[name]))
    return `| \`${name}\` | ${numbers.join(' | ')} | ${LIMIT_MEANINGS[name]} |`
  })
  return `# Plans and limits

A workspace is on a plan; its numbers hold for everything in it. \`GET /api/v1/me\` says which plan a key is on, and every number.

This page is made from the code by \`bun run docs\`.

| limit | ${PLAN_KEYS.map((key) => `\`${key}\``).join(' | ')} | |
|---|${PLAN_KEYS.map(() => '---:|').join('')}---|
${rows.join('\n')}

## Which plan

\`CREEL_DEFAULT_PLAN\` (\`self-hosted\`) is the plan of the first workspace and of those that \`creel workspace create\` makes without \`--plan\`.
\`self-hosted\` has no limits but those of the machine and \`CREEL_STORAGE_MAX\`, and keeps requests for
a century. Take another plan where strangers know your capture URLs, or where requests must be deleted after some days.
\`creel workspace set-plan\` moves a workspace to another plan: nothing is deleted by it, and what is over the new limits is suspended until there is room again.

## Other numbers

\`CREEL_PLANS_FILE\` names a JSON file that changes any number of any plan; a switch is 0 or 1:

\`\`\`json
{ "team": { "storedRequestsMax": 2000000, "payloadBytesMax": 1048576 } }
\`\`\`

The numbers hold from the next start on, in every process that is given the file. Counts are at most 2,147,483,647.
\`captureBytesPerMinute\` is raised with \`captureRatePerMinute\` and \`payloadBytesMax\`, to the product of both, unless the file names it.

## How limits act

- **Rates** count in windows of a minute that start with the first call or capture. Over it: 429 with \`Retry-After\`, the seconds until the
  window ends. A capture that is refused so is counted in the endpoint's \`rejectedCount\`, and an alert (\`capture.rejected\`) tells of it.
- **Stored requests** are counted for each endpoint, exactly. The newest always come in; the oldest make room. After a cap was lowered by thousands,
  each capture evicts some thousands, until the endpoint is within it.
- **Stored bytes** are those of a workspace: of its requests (heads included, at least 1 KiB each beside the body) and their
  [originals](privacy.md#forwards-of-the-original), its attempts and their records, and
  224 bytes for each event id that is remembered. A sweep looks every second (every 10 s while no workspace is over half of its bound)
  and evicts the oldest of the whole workspace: what arrives between two looks may lie above the bound. Attempts of deleted requests count, too: a deleted
  request that has some, and no delivery due, leaves the recycle bin before a younger one of its endpoint is evicted. A request whose deliveries are still
  due is hidden and kept until they have ended; when such requests take a quarter of the bound, the deliveries of the oldest end as dead
  letters (\`evicted\`).
- **Bodies** over \`payloadBytesMax\` are stored as their first 64 KiB, and counted whole. No plan lifts the 60 MiB that a process takes of one body: a larger
  number counts as 60 MiB. A body within it always fits into the memory that an endpoint may use: of many at once, some wait for the others.
- **Counts** (endpoints, actions, rules, watchdogs, channels, keys): 409 \`limit_reached\`. A limit of 0: 403 \`feature_not_in_plan\`.
- **Retention** ends after a century at the latest.
`
}

function shown(name: LimitName, value: number): string {
  return BYTES.has(name) && value < 1_000_000_000_000_000 ? inBytes(value) : value.toLocaleString('en-US')
}

function inBytes(value: number): string {
  let [number, unit] = [value, 0]
  while (number >= 1024 && number % 1024 === 0 && unit < UNITS.length - 1) {
    number /= 1024
    unit += 1
  }
  return `${number} ${UNITS[unit]}`
}
