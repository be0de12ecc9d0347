import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storm } from '../../tests/network/storm.ts'
import { prepareTarget, targetEnv } from '../../tests/network/target.ts'
import { openWorkspace, startBenchService } from './workspace.ts'

/** Cap of an endpoint: more than a round captures, few enough for the disk. */
const STORED_REQUESTS_MAX = 20_000

/**
 * Attacks a service with everything that connections can do, and prints a line for each round.
 *
 * @returns whether there was no complaint
 */
export async function soakNetwork(seconds: number, seed: number): Promise<boolean> {
  console.log(`network soak: ${seconds} s, seed ${seed}`)
  const folder = await mkdtemp(join(tmpdir(), 'creel-soak-'))
  await chmod(folder, 0o711)
  try {
    const env = { ...targetEnv(folder), CREEL_LOG_LEVEL: 'error' }
    await using service = await startBenchService(env, { team: { storedRequestsMax: STORED_REQUESTS_MAX } })
    const bystander = await openWorkspace(service.baseUrl, service.env)
    const target = await prepareTarget({
      pid: service.process.pid,
      baseUrl: service.baseUrl,
      key: service.key,
      bystanderKey: bystander.key,
      inside: env.CREEL_TEST_INSIDE,
      exited: service.process.exited,
      // Errors are printed as they come, on this terminal.
      log: () => '',
    })
    const { complaints } = await storm(target, {
      seed,
      seconds,
      onRound: ({ rounds, steps, connections, answers, captures, bystanderAnswers, after }) =>
        console.log(
          `round ${rounds}: ${steps} steps, ${connections} connections, ${answers} answers, ${captures} captures, ` +
            `${bystanderAnswers} of the bystander, ${after?.residentMegabytes.toFixed(0)} MB`,
        ),
    })
    for (const complaint of complaints) console.error(complaint)
    return complaints.length === 0
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
