import type { z } from 'zod'
import type { Download } from '../api/contract.ts'
import { Progress, partsLeft } from './progress.ts'
import type { ErasureRow } from './run.ts'
import type { Erasure } from './schema.ts'

/** The report of an erasure as Markdown, to hand on. It has the keyed hash of the value, and not the value. */
export function reportOf(row: ErasureRow, names: ReadonlyMap<string, string>): z.output<typeof Download> {
  const { id, state, dryRun, mode, valueHash, paths, counts, progress, endpoints } = erasureView(row)
  const verb = dryRun ? 'found' : mode === 'redact' ? 'reduced to traces' : 'deleted'
  const lines = [
    `# Erasure ${id}`,
    '',
    `- State: ${state}${dryRun ? ', a dry run: nothing was changed' : ''}`,
    `- Asked for at: ${row.createdAt.toISOString()}`,
    `- Ended at: ${row.finishedAt?.toISOString() ?? 'not yet'}`,
    `- Value, as HMAC-SHA256 with the key of the workspace: ${valueHash}`,
    `- Compared: ${paths.length === 0 ? 'everything that is stored' : paths.join(', ')}`,
    `- Looked through: ${progress.scannedRequests} captures, ${progress.scannedAttempts} delivery attempts`,
    '',
    '| held the value | number |',
    '| --- | --- |',
    `| captures, ${verb} | ${counts.requests} |`,
    `| captures in the recycle bin, ${verb} | ${counts.binnedRequests} |`,
    `| delivery attempts with their records | ${counts.attempts} |`,
    `| answers that replays recorded | ${counts.replayResults} |`,
    `| messages of alerts | ${counts.alerts} |`,
    `| events that waited for agents | ${counts.agentEvents} |`,
    `| notes on captures | ${counts.notes} |`,
    '',
    ...endpoints.map(
      ({ endpointId, requests }) =>
        `- Endpoint ${JSON.stringify(names.get(endpointId) ?? 'deleted')} (${endpointId}): ${requests} captures`,
    ),
    '',
    'Captures that arrived after the erasure was asked for, and backups made before it, are not covered.',
    '',
  ]
  return {
    contentType: 'text/markdown',
    fileName: `erasure-${id}.md`,
    content: lines.join('\n'),
    encoding: 'utf8',
  }
}

/** Converts a row to the API's shape, without the value. */
export function erasureView(row: ErasureRow): z.input<typeof Erasure> {
  const progress = Progress.parse(JSON.parse(row.progress))
  const { counts, endpoints, scannedRequests, scannedAttempts } = progress
  return {
    id: row.id,
    state: row.state,
    dryRun: row.dryRun,
    mode: row.mode,
    valueHash: row.valueHash,
    paths: JSON.parse(row.paths),
    counts,
    progress: { scannedRequests, scannedAttempts, partsLeft: partsLeft(progress) },
    endpoints: Object.entries(endpoints).map(([endpointId, requests]) => ({ endpointId, requests })),
    createdAt: row.createdAt,
    finishedAt: row.finishedAt,
  }
}
