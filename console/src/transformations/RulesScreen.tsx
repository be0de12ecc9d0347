import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { useAddress } from '../address.ts'
import { named, Select } from '../parts/Field.tsx'
import { NoLongerThere } from '../parts/FormFoot.tsx'
import { MoveButtons } from '../parts/Menu.tsx'
import { Bones, Problem } from '../parts/Problem.tsx'
import { Switch } from '../parts/Segments.tsx'
import { Badge } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { WriteLink, Writes } from '../parts/Writes.tsx'
import { actionsQuery } from '../queries.ts'
import { creel, type Endpoint } from '../trpc.ts'
import { ofLimit } from '../words/format.ts'
import { type Rule, ruleSetQuery } from './queries.ts'
import { RuleEditor } from './RuleEditor.tsx'

/** The rules of an action, and the editor of one; `item` is its id, or `new`. */
export function RulesScreen({ endpoint, item }: { endpoint: Endpoint; item: string | undefined }) {
  const [params, change] = useAddress()
  const [, navigate] = useLocation()
  const actions = useQuery(actionsQuery(endpoint.id))
  const forwards = actions.data?.actions.filter(({ kind }) => kind === 'forward') ?? []
  const actionId = params.get('action') ?? forwards[0]?.id
  const set = useQuery({ ...ruleSetQuery(endpoint.id, actionId), enabled: actionId !== undefined })
  if (actions.data !== undefined && forwards.length === 0) {
    return (
      <div className="nothing">
        <h2>No forward action yet</h2>
        <p>
          Rules change the requests that an action forwards: redact, rename, compute or wrap. The capture
          itself stays as it is.
        </p>
        <WriteLink className="button primary" href={`/e/${endpoint.id}/actions/new`}>
          Add action
        </WriteLink>
      </div>
    )
  }
  if (set.data === undefined || actionId === undefined) {
    const error = actions.error ?? set.error
    return error === null ? <Bones /> : <Problem error={error} onRetry={() => void set.refetch()} />
  }
  const { featureInPlan, maxRules, rules } = set.data
  const at = (id: string) => {
    const query = params.toString()
    return `/e/${endpoint.id}/rules${id === '' ? '' : `/${id}`}${query === '' ? '' : `?${query}`}`
  }
  const isNew = item === 'new' || (item === undefined && (rules.length === 0 || params.has('path')))
  const asked = rules.find(({ id }) => id === item)
  const open = asked ?? (isNew ? undefined : rules[0])
  return (
    <>
      <div className="section-head">
        <h2>
          <label htmlFor="rules-of">Rules of</label>{' '}
          <Select
            id="rules-of"
            value={actionId}
            options={named(forwards)}
            onChange={(action) =>
              isNew ? change({ action }) : navigate(`/e/${endpoint.id}/rules?action=${action}`)
            }
          />
        </h2>
        <span className="hint">{ofLimit(rules.length, maxRules)}</span>
        {!isNew && rules.length < maxRules && (
          <WriteLink className="button primary" href={at('new')}>
            <Plus size={14} /> Add rule
          </WriteLink>
        )}
      </div>
      {!isNew && (
        <NoLongerThere what="rule" id={item} of={set} items={rules} keptAs={`rule ${actionId} ${item}`} />
      )}
      {!featureInPlan && <p className="banner">Rules are not in this plan.</p>}
      <RuleList endpointId={endpoint.id} actionId={actionId} rules={rules} openId={open?.id} hrefOf={at} />
      {featureInPlan && (
        <RuleEditor
          key={open?.id ?? `new ${actionId}`}
          endpoint={endpoint}
          actionId={actionId}
          rule={open}
          before={rules.filter(
            (rule) => rule.enabled && (open === undefined || rule.position < open.position),
          )}
          onSaved={(id) => navigate(`/e/${endpoint.id}/rules/${id}?action=${actionId}`)}
          onRemoved={() => navigate(`/e/${endpoint.id}/rules?action=${actionId}`)}
          onCancel={
            rules.length === 0 ? undefined : () => navigate(`/e/${endpoint.id}/rules?action=${actionId}`)
          }
        />
      )}
    </>
  )
}

interface ListProps {
  readonly endpointId: string
  readonly actionId: string
  readonly rules: readonly Rule[]
  readonly openId: string | undefined
  readonly hrefOf: (id: string) => string
}

function RuleList({ endpointId, actionId, rules, openId, hrefOf }: ListProps) {
  const stale = [['rules', endpointId]]
  const order = useCall(
    (ids: string[]) => creel.transformations.order.mutate({ endpointId, actionId, order: ids }),
    stale,
  )
  const turn = useCall(
    (rule: { ruleId: string; enabled: boolean }) =>
      creel.transformations.update.mutate({ endpointId, actionId, ...rule }),
    stale,
  )
  const move = (at: number, by: number) => {
    const ids = rules.map(({ id }) => id)
    const [moved] = ids.splice(at, 1)
    if (moved === undefined || at + by < 0 || at + by > ids.length) return
    ids.splice(at + by, 0, moved)
    order.mutate(ids)
  }
  if (rules.length === 0) return null
  return (
    <Writes>
      <Problem error={order.error ?? turn.error} />
      <ol className="cards" aria-label="Rules, in the order they run">
        {rules.map(({ condition, disabledReason, enabled, id, name, position, version }, at) => (
          <li key={id} className="item" data-open={id === openId}>
            <span className="hint num">{position}</span>
            <Link href={hrefOf(id)} className="item-name" aria-current={id === openId ? 'true' : undefined}>
              {name}
            </Link>
            <Badge>v{version}</Badge>
            <span className="item-what">
              {disabledReason === null ? (
                condition
              ) : (
                <span className="warn">Switched off: {disabledReason}</span>
              )}
            </span>
            <Switch
              isOn={enabled}
              isDisabled={turn.isPending}
              label={`${name} is switched on`}
              onChange={(on) => turn.mutate({ ruleId: id, enabled: on })}
            >
              {enabled ? 'on' : 'off'}
            </Switch>
            <MoveButtons name={name} isBusy={order.isPending} onMove={(by) => move(at, by)} />
          </li>
        ))}
      </ol>
    </Writes>
  )
}
