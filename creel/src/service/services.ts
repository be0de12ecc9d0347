import {
  checkSecretKey,
  createSecretBox,
  openingRows,
  readsOf,
  readsWithReplica,
  type Services,
  type Urls,
} from '@creel/core'
import type { Captures } from '@creel/core/capture'
import { checkCell } from '@creel/core/cells'
import { RETRY_DELAYS_SECONDS, registerDeliveryWorker, releaseHeld } from '@creel/core/deliveries'
import { createAccessTokens } from '@creel/core/platform/accessTokens'
import { startEndpointChanges } from '@creel/core/platform/changes'
import { createMailer } from '@creel/core/platform/mail'
import { replicatedReads } from '@creel/core/platform/metrics'
import { createOutbound, type OwnHost } from '@creel/core/platform/outbound'
import { createBoss, createEnqueue, createQueues } from '@creel/jobs'
import type { PgBoss } from 'pg-boss'
import { withRights } from '../database/index.ts'
import { StartupError, wordsOf } from '../startupError.ts'
import { AUDIT_RETENTION_DAYS, type ServiceOptions } from './options.ts'

/** core's services and the queue, opened. */
export interface OpenServices {
  readonly services: Services
  readonly boss: PgBoss
  readonly hasReplica: boolean
  readonly dispatches: boolean
  /** Sets the captures that `handIn` stores with. */
  takeCaptures(captures: Captures): void
  /** Makes all waiting calls answer now. */
  beginStopping(): void
  /** Closes what was opened here; the database is closed by its opener. */
  close(): Promise<void>
}

/**
 * Opens the dependencies of core for the life of the process.
 *
 * @param urls public addresses
 * @param listensOn this process's own address: forwards to it are loops
 * @throws StartupError when the secret key or the name of the cell does not match the database
 */
export async function openServices(
  options: ServiceOptions,
  urls: Urls,
  listensOn: OwnHost | undefined,
): Promise<OpenServices> {
  const { database, databaseUrl, log, clock, plans, parts, jobClock } = options
  if (options.cell !== undefined) {
    await checkCell(database.db, options.cell).catch((cause: unknown) => {
      throw new StartupError(wordsOf(cause), { cause })
    })
  }
  const secrets = createSecretBox([options.secretKey, ...(options.formerSecretKeys ?? [])])
  await checkSecretKey(database.db, secrets).catch((cause: unknown) => {
    const found = 'Without CREEL_SECRET_KEY, the key is in secret.key of the data folder.'
    throw new StartupError(`${wordsOf(cause)} ${found}`, { cause })
  })
  database.openSealedWith(openingRows({ secrets, log }))
  options.replica?.openSealedWith(openingRows({ secrets, log }))
  const boss = createBoss(databaseUrl, {
    log,
    works: parts.has('jobs'),
    ...(options.queueConnections === undefined ? {} : { connections: options.queueConnections }),
    ...(jobClock === undefined ? {} : { clock: jobClock }),
  })
  await withRights(database.db, () => boss.start())
  await createQueues(boss)
  const ownHosts = [urls.baseUrl, urls.captureUrl].map(ownHostOf)
  if (listensOn !== undefined) ownHosts.push(listensOn)
  const outbound = createOutbound({
    allowDestinations: options.allowDestinations,
    ownHosts: () => ownHosts,
    isClosed: options.isRelay ?? false,
    // A caller that reaches the API at a loopback address is on the operator's own machine.
    namesSetting: isLoopback(urls.baseUrl),
  })
  const accessTokens = createAccessTokens({ outbound, clock, version: options.version })
  const mailer = createMailer(options.mail)
  const endpointChanges = startEndpointChanges(databaseUrl, log)
  const enqueue = createEnqueue(boss)
  const stopping = new AbortController()
  let captures: Captures | undefined
  return {
    takeCaptures: (opened) => {
      captures = opened
    },
    services: {
      actor: { kind: 'service', id: null, name: 'creel', address: null },
      auditRetentionDays: options.auditRetentionDays ?? AUDIT_RETENTION_DAYS,
      cell: options.cell ?? null,
      db: database.db,
      searches: database.searches,
      reads: readsFor(options),
      clock,
      log,
      plans,
      defaultPlan: options.defaultPlan ?? 'team',
      isRelay: options.isRelay ?? false,
      storageMaxBytes: options.storageMaxBytes ?? null,
      secrets,
      urls,
      version: options.version,
      retryDelaysSeconds: options.retryDelaysSeconds ?? RETRY_DELAYS_SECONDS,
      enqueue,
      outbound,
      accessTokens,
      mailer,
      alertApiUrls: options.alertApiUrls,
      providerApiUrls: options.providerApiUrls ?? {},
      endpointChanges,
      releaseHeld: (trx, actionId) => releaseHeld({ enqueue, clock }, trx, actionId),
      handIn: async (request, captureId) => {
        const settings = await captures?.findSettings(captureId)
        if (captures === undefined) return { state: 'unavailable' }
        if (settings === undefined) return { state: 'gone' }
        const result = await captures.capture(settings, request, { captureId, needsId: true })
        if (result.state === 'discarded') return { state: 'stored', id: result.duplicateOf }
        if (result.state !== 'stored') return result
        return result.id === null ? { state: 'unavailable' } : { state: 'stored', id: result.id }
      },
      stopping: stopping.signal,
      workerId: await registerDeliveryWorker(database.db),
    },
    boss,
    hasReplica: options.replica !== undefined,
    dispatches: options.isRelay !== true && (options.dispatches ?? true),
    beginStopping: () => stopping.abort(),
    async close() {
      await endpointChanges.stop()
      await outbound.close()
      mailer.close()
      await boss.stop({ graceful: false })
    },
  }
}

function readsFor({ database, replica, log }: ServiceOptions) {
  if (replica === undefined) return readsOf(database)
  return readsWithReplica(database, replica, {
    ran: (server) => replicatedReads.inc({ server }),
    changed: (isUsable, err) =>
      isUsable
        ? log.info({ event: 'replica.used' }, 'lists and searches use the replica')
        : log.warn(
            { event: 'replica.left', err },
            'the replica is not usable: lists and searches use the primary',
          ),
  })
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}

function ownHostOf(url: string): OwnHost {
  const { hostname, port, protocol } = new URL(url)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
