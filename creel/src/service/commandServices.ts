import { userInfo } from 'node:os'
import { createSecretBox, type Enqueue, openingRows, readsOf, type Services, systemClock } from '@creel/core'
import { releaseHeld } from '@creel/core/deliveries'
import { createAccessTokens } from '@creel/core/platform/accessTokens'
import { createMailer } from '@creel/core/platform/mail'
import { createOutbound } from '@creel/core/platform/outbound'
import { createBoss, createEnqueue, createQueues } from '@creel/jobs'
import type { Logger } from 'pino'
import { type Config, mailOptions } from '../config/index.ts'
import type { Connected } from '../database/index.ts'
import { secretKeysOf } from '../secretKey.ts'
import { localAddress } from '../serviceFile.ts'
import { VERSION } from '../version.ts'

/**
 * core's services for one command, like those of the service, except that the queue is opened on its first job, and
 * change notifications are off.
 */
export async function openCommandServices(
  config: Config,
  log: Logger,
  { database, url }: Connected,
): Promise<{ services: Services; close: () => Promise<void> }> {
  const boss = createBoss(url, { log, works: false })
  let started: Promise<unknown> | undefined
  const insert = createEnqueue(boss)
  const enqueue: Enqueue = async (...job) => {
    started ??= boss.start().then(() => createQueues(boss))
    await started
    await insert(...job)
  }
  // The actual address of the running service, whose port may have been chosen at start.
  const baseUrl = config.CREEL_BASE_URL ?? (await localAddress(config))
  const outbound = createOutbound({ allowDestinations: config.CREEL_ALLOW_DESTINATIONS, ownHosts: () => [] })
  const mailer = createMailer(mailOptions(config))
  const secrets = createSecretBox(await secretKeysOf(config, database.db))
  database.openSealedWith(openingRows({ secrets, log }))
  return {
    services: {
      actor: { kind: 'operator', id: null, name: operatorName(), address: null },
      auditRetentionDays: config.CREEL_AUDIT_RETENTION_DAYS,
      cell: config.cell,
      db: database.db,
      searches: database.searches,
      reads: readsOf(database),
      clock: systemClock,
      log,
      plans: config.plans,
      defaultPlan: config.CREEL_DEFAULT_PLAN,
      isRelay: false,
      storageMaxBytes: null,
      secrets,
      urls: { baseUrl, captureUrl: config.CREEL_CAPTURE_URL ?? baseUrl },
      version: VERSION,
      enqueue,
      outbound,
      accessTokens: createAccessTokens({ outbound, clock: systemClock, version: VERSION }),
      mailer,
      alertApiUrls: config.CREEL_ALERT_API_URLS,
      providerApiUrls: config.CREEL_PROVIDER_API_URLS,
      retryDelaysSeconds: config.CREEL_RETRY_SCHEDULE,
      endpointChanges: { onEndpoint: () => () => {}, onAny: () => () => {}, announce: () => {} },
      releaseHeld: (trx, actionId) => releaseHeld({ enqueue, clock: systemClock }, trx, actionId),
      handIn: () => Promise.resolve({ state: 'unavailable' }),
      stopping: new AbortController().signal,
      workerId: null,
    },
    close: async () => {
      await outbound.close()
      mailer.close()
      if (started !== undefined) await boss.stop({ graceful: false })
    },
  }
}

/** The user of the machine who runs the command; the user's number if it has no name. */
function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
