import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@creel/program'
import { preparedFolder } from '../support/process.ts'
import { expectNothingLost } from './findings.ts'
import { createRandom } from './random.ts'
import { openWorld } from './world.ts'

/** A short run in the suite; `CREEL_FAULT_ROUNDS` and `CREEL_FAULT_SEED` make a long run, or replay one. */
const ROUNDS = Number(process.env.CREEL_FAULT_ROUNDS ?? 3)
const SEED = Number(process.env.CREEL_FAULT_SEED ?? Math.floor(Math.random() * 2 ** 32))
/** Long, because a busy machine starts processes slowly: only a failure takes this time. */
const SECONDS_PER_ROUND = 60
const SECONDS_AROUND = 400

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

describe('SIGKILL at random moments', () => {
  test(
    `of gateways, jobs and Postgres loses nothing acknowledged and nothing due (seed ${SEED})`,
    async () => {
      console.log(`faults: CREEL_FAULT_SEED=${SEED} CREEL_FAULT_ROUNDS=${ROUNDS}`)
      const random = createRandom(SEED)
      const postgres = await startEmbeddedPostgres({
        dataDir: join(await preparedFolder(), '.creel'),
        log: quiet,
      })
      try {
        await using world = await openWorld({ random, databaseUrl: postgres.url })
        const faults = {
          gateway: () => world.gateways[random.below(world.gateways.length)]?.kill(),
          'every gateway': () => Promise.all(world.gateways.map((gateway) => gateway.kill())),
          jobs: () => world.jobs.kill(),
          Postgres: () => process.kill(postgres.pid(), 'SIGKILL'),
          everything: () => {
            process.kill(postgres.pid(), 'SIGKILL')
            return Promise.all([...world.gateways, world.jobs].map((kept) => kept.kill()))
          },
        }
        for (let round = 0; round < ROUNDS; round += 1) {
          // Faults come at random points of the traffic, also right after one another.
          await world.acknowledgedMore(1 + random.below(60))
          await faults[random.pick(['gateway', 'every gateway', 'jobs', 'Postgres', 'everything'])]()
        }
        await world.acknowledgedMore(20)
        const findings = await world.settle()
        expect(findings.acknowledgedCount).toBeGreaterThan(20)
        expectNothingLost(findings)
      } finally {
        await postgres.stop()
      }
    },
    (ROUNDS * SECONDS_PER_ROUND + SECONDS_AROUND) * 1000,
  )
})
