import { PLAN_KEYS } from '@creel/core/plans'
import { type JsonOption, printHint, printJson, printTable, printText } from '@creel/terminal/output/print'
import { type Command, Option } from 'commander'
import { asOperator } from './operatorSession.ts'
import type { ProgramParts } from './programParts.ts'

type PlanKey = (typeof PLAN_KEYS)[number]

const planOption = () =>
  new Option('--plan <plan>', 'plan with its limits (docs/plans.md)').choices(PLAN_KEYS)

/** `creel workspace …` */
export function addWorkspaceCommands(command: Command, parts: ProgramParts): void {
  command
    .command('create')
    .description('create a workspace')
    .requiredOption('--name <name>', 'unique, 1-100 characters')
    .addOption(planOption())
    .option('--json', 'print {"id","name","plan"} on one line')
    .action(async ({ name, plan, json }: JsonOption & { name: string; plan?: PlanKey }) => {
      const made = await asOperator(parts, (operator) => operator.workspaces.create({ name, plan }))
      if (json === true) return printJson({ id: made.id, name: made.name, plan: made.plan })
      printText(`Created the workspace "${made.name}" (${made.id}) on the plan ${made.plan}.`)
      printHint(`Next: creel key create --workspace ${made.id} --name <name>`)
    })

  command
    .command('list')
    .description('list the workspaces, newest first')
    .option('--json', 'print one JSON array on one line')
    .action(async ({ json }: JsonOption) => {
      const workspaces = await asOperator(parts, (operator) => operator.workspaces.list())
      if (json === true) return printJson(workspaces)
      printTable(workspaces, {
        Id: ({ id }) => id,
        Name: ({ name }) => name,
        Plan: ({ plan }) => plan,
        Created: ({ createdAt }) => createdAt,
      })
    })

  command
    .command('set-plan')
    .description('change the plan of a workspace; deletes nothing')
    .requiredOption('--workspace <id|name>', 'workspace to change')
    .addOption(planOption().makeOptionMandatory())
    .option('--json', 'print {"id","name","plan"} on one line')
    .action(async (options: JsonOption & { workspace: string; plan: PlanKey }) => {
      const { workspace, plan, json } = options
      const changed = await asOperator(parts, (operator) => operator.workspaces.setPlan({ workspace, plan }))
      if (json === true) return printJson({ id: changed.id, name: changed.name, plan: changed.plan })
      printText(`Changed the plan of "${changed.name}" to ${changed.plan}.`)
    })
}
