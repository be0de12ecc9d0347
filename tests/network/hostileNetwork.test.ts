import { describe, expect, test } from 'bun:test'
import { createTestDatabase } from '../support/database.ts'
import { runCreel, startProcess, temporaryFolder } from '../support/process.ts'
import { FAULT, type FaultName } from './plantedFaults.ts'
import { type StormReport, storm } from './storm.ts'
import { prepareTarget, type Target, targetEnv } from './target.ts'

/** A short run in the suite. `CREEL_NETWORK_SECONDS` makes a long one, `CREEL_NETWORK_SEED` replays one. */
const SECONDS = Number(process.env.CREEL_NETWORK_SECONDS ?? 8)
const SEED = Number(process.env.CREEL_NETWORK_SEED ?? Math.floor(Math.random() * 2 ** 32))
/** A planted fault is found in one of the first rounds. */
const FAULT_SECONDS = 20
const FAULT_SETTLE_SECONDS = 3
/** Beyond the run: a suite that gets a tenth of a processor needs minutes for it. */
const SECONDS_AROUND = 500

/** A service in a process of its own, with a fault planted in it. It is killed in the end: it may not be able to stop. */
async function withTarget(fault: FaultName | '', use: (target: Target) => Promise<void>): Promise<void> {
  const database = await createTestDatabase()
  const env = { ...targetEnv(await temporaryFolder()), [FAULT]: fault }
  const creel = await startProcess({ database, env }, ['--only', 'gateway'])
  const command = async (...words: string[]): Promise<Record<string, string>> =>
    JSON.parse((await runCreel([...words, '--json'], { database })).stdout)
  try {
    const { id = '' } = await command('workspace', 'create', '--name', 'bystander', '--plan', 'self-hosted')
    const { key = '' } = await command('key', 'create', '--workspace', id, '--name', 'bystander')
    const target = await prepareTarget({
      pid: creel.pid,
      baseUrl: creel.baseUrl,
      key: creel.first?.key ?? '',
      bystanderKey: key,
      inside: env.CREEL_TEST_INSIDE,
      exited: creel.exited,
      log: creel.stderr,
    })
    await use(target)
    if (fault === '') expect(await creel.stop()).toBe(0)
  } finally {
    creel.signal('SIGKILL')
    await creel.exited
    await database.drop()
  }
}

const told = ({ before, after, complaints, ...counts }: StormReport) => JSON.stringify(counts)

describe('a hostile network', () => {
  test(
    `gets no wrong answer, harms no bystander and leaves nothing behind (seed ${SEED})`,
    () =>
      withTarget('', async (target) => {
        console.log(`network: CREEL_NETWORK_SEED=${SEED} CREEL_NETWORK_SECONDS=${SECONDS}`)
        const report = await storm(target, { seed: SEED, seconds: SECONDS })
        console.log(`network: ${told(report)}`)
        // As the message of an error, they are in the summary of a whole run.
        if (report.complaints.length > 0) throw new Error(report.complaints.join('; '))
        expect(report.bystanderAnswers).toBeGreaterThan(0)
        expect(report.captures).toBeGreaterThan(0)
      }),
    (SECONDS * 2 + SECONDS_AROUND) * 1000,
  )

  // A sound service gives no cause for any complaint, as above. Which one comes first depends on the seed. Only one is of
  // the log, which is read all the time: where it is wanted, a slow end of connections must not be the first.
  test.each([
    ['callbacks without a guard', /uncaught error/, undefined],
    ['answers of other connections', /./, FAULT_SETTLE_SECONDS],
    ['descriptors that are not closed', /./, FAULT_SETTLE_SECONDS],
    ['connections whose end is not heard', /./, FAULT_SETTLE_SECONDS],
  ] as const)('shows that a service has %s', (fault, complaint, settleSeconds) =>
    withTarget(fault, async (target) => {
      const report = await storm(target, {
        seed: SEED,
        seconds: FAULT_SECONDS,
        ...(settleSeconds !== undefined && { settleSeconds }),
      })
      expect(report.complaints.join('\n')).toMatch(complaint)
    }),
  )
})
