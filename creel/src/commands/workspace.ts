import { PLAN_KEYS } from '@creel/core/plans'
import { type JsonOption, printHint, printJson, printTable, printText } from '@creel/terminal/output/print'
import { type Command, Option } from 'commander'
import { asOperator, asOperatorOfAll, type CellAnswer, type Operator } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'
import { StartupError } from '../startupError.ts'
import { addMoveCommands } from './workspaceMove.ts'

type PlanKey = (typeof PLAN_KEYS)[number]

const planOption = () =>
  new Option('--plan <plan>', 'plan with its limits (docs/plans.md)').choices(PLAN_KEYS)

export function addWorkspaceCommands(command: Command, parts: ProgramParts): void {
  command
    .command('create')
    .description('create a workspace')
    .requiredOption('--name <name>', 'unique, 1-100 characters')
    .addOption(planOption())
    .option('--json', 'print {"id","name","plan"} on one line')
    .action(async ({ name, plan, json }: JsonOption & { name: string; plan?: PlanKey }) => {
      const made = await createWorkspace(parts, { name, plan })
      if (json === true) return printJson({ id: made.id, name: made.name, plan: made.plan })
      printText(`Created the workspace "${made.name}" (${made.id}) on the plan ${made.plan}.`)
      printHint(`Next: creel key create --workspace ${made.id} --name <name>`)
    })

  command
    .command('list')
    .description('list the workspaces, newest first')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ json }: JsonOption) => {
      const cells = await asOperatorOfAll(parts, (operator) => operator.workspaces.list())
      const hasCells = cells.some(({ cell }) => cell !== null)
      const workspaces = cells.flatMap(({ cell, answer }) =>
        answer.map((workspace) => ({ ...workspace, ...(cell !== null && { cell: cell.name }) })),
      )
      if (json === true) return printJson(workspaces)
      printTable(workspaces, {
        ...(hasCells && { Cell: ({ cell = '' }: { cell?: string }) => cell }),
        Id: ({ id }) => id,
        Name: ({ name }) => name,
        Plan: ({ plan }) => plan,
        Created: ({ createdAt }) => createdAt,
      })
    })

  addMoveCommands(command)

  command
    .command('set-plan')
    .description('change the plan of a workspace; deletes nothing')
    .requiredOption('--workspace <id|name>', 'workspace to change')
    .addOption(planOption().makeOptionMandatory())
    .option('--json', 'print {"id","name","plan"} on one line')
    .action(async (options: JsonOption & { workspace: string; plan: PlanKey }) => {
      const { workspace, plan, json } = options
      const changed = await asOperator(parts, workspace, (operator) =>
        operator.workspaces.setPlan({ workspace, plan }),
      )
      if (json === true) return printJson({ id: changed.id, name: changed.name, plan: changed.plan })
      printText(`Changed the plan of "${changed.name}" to ${changed.plan}.`)
    })
}

/**
 * Creates a workspace: in the cell that has the fewest for its weight. Its name must be free in every cell.
 *
 * @throws StartupError when no cell takes new workspaces, or another cell has the name
 */
async function createWorkspace(parts: ProgramParts, input: Parameters<Operator['workspaces']['create']>[0]) {
  const cells = await asOperatorOfAll(parts, (operator) => operator.workspaces.list())
  const taken = cells.find(({ answer }) => answer.some(({ name }) => name === input.name))
  if (taken?.cell != null) {
    throw new StartupError(`The cell ${taken.cell.name} has a workspace with the name "${input.name}".`)
  }
  const open = cells.filter(({ cell }) => cell === null || cell.weight > 0)
  const [least] = open.sort((one, two) => fullness(one) - fullness(two))
  if (least === undefined) throw new StartupError('No cell takes new workspaces: each has the weight 0.')
  const made = await asOperatorOfAll(
    parts,
    (operator) => operator.workspaces.create(input),
    (cell) => cell?.name === least.cell?.name,
  )
  const [created] = made
  if (created === undefined) throw new StartupError('The cell has gone from the file.')
  return created.answer
}

function fullness({ cell, answer }: CellAnswer<readonly unknown[]>): number {
  return (answer.length + 1) / (cell?.weight ?? 1)
}
