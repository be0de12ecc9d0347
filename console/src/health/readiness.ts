import { isRecord } from '../json.ts'
import type { Answers } from '../trpc.ts'

/** The answer of `/readyz`: checks and notes, each with a short text. */
export type Readiness = ReturnType<typeof readinessOf>

/** Reads an answer of `/readyz`, whatever version gave it. */
export function readinessOf(answer: unknown) {
  const { status, checks, ...notes } = isRecord(answer) ? answer : {}
  const states = Object.entries({ ...(isRecord(checks) ? checks : {}), ...notes })
  return {
    status: typeof status === 'string' ? status : 'unavailable',
    states: states.map(([name, state]) => [name, String(state)] as const),
  }
}

/** Sections of the runbook, by the names of checks and notes. */
const SECTIONS: Readonly<Record<string, string>> = {
  cells: 'creelcelloutofreach',
  database: 'creelcapturesunavailable',
  gateways: 'creelgatewayrestarts',
  jobs: 'creelqueuelags',
  processes: 'creelgatewayrestarts',
  queue: 'creelcapturesunavailable',
  replica: 'creelreplicaunused',
  storage: 'creelstoragenearlyfull',
}

type Trouble = Answers['workspace']['health']['problems'][number]

/** Troubles of the service itself: every check or note that does not begin with `ok`. */
export function serviceTroubles(readiness: Readiness | undefined): Trouble[] {
  return (readiness?.states ?? [])
    .filter(([, state]) => !/^ok\b/.test(state))
    .map(([name, state]) => {
      const section = SECTIONS[name.startsWith('cell ') ? 'cells' : name]
      return {
        code: `service.${name}`,
        title: `Service: ${name}`,
        detail: state,
        since: null,
        endpointId: null,
        actionId: null,
        runbook: section === undefined ? null : `docs/runbook.md#${section}`,
      }
    })
}

/** Troubles with keys. Things may have one name, so troubles that look the same are numbered. */
export function withKeys(troubles: readonly Trouble[]) {
  const seen = new Map<string, number>()
  return troubles.map((trouble) => {
    const { actionId, code, endpointId, title } = trouble
    const words = `${code} ${title} ${endpointId} ${actionId}`
    const before = seen.get(words) ?? 0
    seen.set(words, before + 1)
    return { key: `${words} ${before}`, trouble }
  })
}

/**
 * A section of a page in Markdown as plain text: its paragraphs and items, each on one line.
 *
 * @param anchor the heading in lower case
 */
export function sectionOf(page: string, anchor: string): string {
  const found = page.split(/^## /m).find((section) => section.split('\n', 1)[0]?.toLowerCase() === anchor)
  return (found ?? '')
    .split('\n')
    .slice(1)
    .join('\n')
    .trim()
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\n(?!\n|- )\s*(?=\S)/g, ' ')
    .replaceAll(/\n{2,}/g, '\n')
}
