import type { Change } from '../audit/index.ts'
import type { ActionRow } from './queries.ts'
import type { actionView } from './view.ts'

type View = ReturnType<typeof actionView>

/** The audit entry of a change of an action. */
export function actionChange(
  action: string,
  {
    row,
    before,
    after,
  }: { readonly row: ActionRow; readonly before: View | null; readonly after: View | null },
): Change {
  return {
    action,
    workspaceId: row.workspaceId,
    subject: { type: 'action', id: row.id, name: row.name },
    endpointId: row.endpointId,
    before,
    after,
  }
}
