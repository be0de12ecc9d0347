import type { PlanKey } from '@creel/core/plans'
import { z } from 'zod'
import { Client } from './client.ts'
import { type ProcessOptions, type RunningProcess, runCreel } from './process.ts'

const Workspace = z.looseObject({ id: z.string() })
const Key = z.looseObject({ key: z.string() })

/** Makes a workspace with one key by the program's commands, for a process that serves the same database. */
export async function clientOf(
  { baseUrl, captureUrl }: Pick<RunningProcess, 'baseUrl' | 'captureUrl'>,
  options: ProcessOptions,
  plan: PlanKey = 'team',
): Promise<Client> {
  const json = async (...words: string[]): Promise<unknown> =>
    JSON.parse((await runCreel([...words, '--json'], options)).stdout)
  const { id } = Workspace.parse(await json('workspace', 'create', '--name', 'test', '--plan', plan))
  const { key } = Key.parse(await json('key', 'create', '--workspace', id, '--name', 'test'))
  return new Client(baseUrl, captureUrl, key, id)
}
