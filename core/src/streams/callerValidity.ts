import type { Caller } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recheckKey } from '../keys/index.ts'
import type { Db } from '../platform/db/index.ts'
import { stateOf } from '../platform/stateOf.ts'
import { recheckSession } from '../sessions/index.ts'

/** A revoked key ends its streams within this time, plus the duration of one query. */
const RECHECK_MILLISECONDS = 5_000

/** Validity of a caller. The signal aborts when the caller may no longer call, with the refusal as its reason. */
export interface CallerValidity {
  readonly signal: AbortSignal
  /** Releases the watch. It stops when all its holders have released it. */
  release(): void
}

interface Watched {
  readonly ended: AbortController
  readonly timer: ReturnType<typeof setInterval>
  holders: number
}

const watchedOf = stateOf<Db, Map<string, Watched>>(() => new Map())

/**
 * Checks periodically whether a caller may still call, for calls that outlive their authentication. All streams of a
 * caller from one address share the check. An unreachable database ends no stream.
 */
export function watchCaller(services: Services, caller: Caller): CallerValidity {
  const ofDatabase = watchedOf(services.db)
  const name = `${caller.callerId} ${caller.address}`
  const watched = ofDatabase.get(name) ?? startWatching(services, caller)
  ofDatabase.set(name, watched)
  watched.holders += 1
  let isReleased = false
  return {
    signal: watched.ended.signal,
    release() {
      if (isReleased) return
      isReleased = true
      watched.holders -= 1
      if (watched.holders > 0) return
      clearInterval(watched.timer)
      if (ofDatabase.get(name) === watched) ofDatabase.delete(name)
    },
  }
}

function startWatching(services: Services, caller: Caller): Watched {
  const ended = new AbortController()
  const check = () => {
    recheck(services, caller).catch((error: unknown) => {
      if (error instanceof DomainError) ended.abort(error)
      else
        services.log.warn(
          { err: error },
          'the key of a stream could not be checked: the stream stays open until the next check',
        )
    })
  }
  const timer = setInterval(check, RECHECK_MILLISECONDS)
  timer.unref()
  return { ended, timer, holders: 0 }
}

async function recheck(services: Services, { session, key, address }: Caller): Promise<void> {
  if (session !== null) await recheckSession(services, { sessionId: session.id, address })
  else if (key !== null) await recheckKey(services, { keyId: key.id, address })
}
