import { useCall } from '../parts/useCall.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Problem } from '../parts/Problem.tsx'
import { toast } from '../parts/toasts.ts'
import { Writes } from '../parts/Writes.tsx'
import { creel } from '../trpc.ts'
import { diffLines } from '../words/diff.ts'
import { ago, fullTime } from '../words/format.ts'
import { versionsQuery } from './queries.ts'
import type { Rule } from './rule.ts'

interface Props {
  readonly endpointId: string
  readonly actionId: string
  readonly rule: Rule
  readonly onRestored: () => Promise<void>
}

/** Every version of a rule. An old one can be compared with the current one, and restored as a new version. */
export function RuleVersions({ endpointId, actionId, rule, onRestored }: Props) {
  const versions = useQuery(versionsQuery(endpointId, rule.id, rule.version))
  const [compared, setCompared] = useState<number>()
  const restore = useCall(
    (n: number) => creel.transformations.restore.mutate({ endpointId, actionId, ruleId: rule.id, n }),
    [],
    async ({ version }) => {
      await onRestored()
      toast(`Restored as v${version}`)
    },
  )
  const items = versions.data?.items ?? []
  const old = items.find(({ version }) => version === compared)
  if (items.length < 2) return null
  const text = (document: unknown) => JSON.stringify(document, null, 2).split('\n')
  return (
    <section className="cards" aria-label="Versions">
      <h3>Versions</h3>
      <Problem error={restore.error ?? versions.error} />
      {items.map(({ createdAt, restoredFrom, version }) => (
        <div key={version} className="acts">
          <b>v{version}</b>
          <span className="hint" title={fullTime(createdAt)}>
            {version === rule.version ? 'current, ' : ''}
            {ago(createdAt)}
            {restoredFrom !== null && `, restored from v${restoredFrom}`}
          </span>
          {version !== rule.version && (
            <>
              <Button look="small" onClick={() => setCompared(compared === version ? undefined : version)}>
                Compare v{version} with v{rule.version}
              </Button>
              <Writes>
                <Button look="small" disabled={restore.isPending} onClick={() => restore.mutate(version)}>
                  Restore v{version}
                </Button>
              </Writes>
            </>
          )}
        </div>
      ))}
      {old !== undefined && (
        <div className="preview-out">
          {diffLines(text(old.rule), text(rule.rule)).map(({ change, text: line }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
            <p key={at} data-change={change}>
              <i>{change === 'added' ? '+' : change === 'removed' ? '−' : ''}</i>
              <span>{line}</span>
            </p>
          ))}
        </div>
      )}
    </section>
  )
}
