/** Bounds the memory that bodies take while they arrive and wait to be stored. */
export interface BodyBudget {
  /** Bytes in use by all bodies together. */
  readonly takenBytes: number
  /** @param address null where nobody knows it */
  open(endpointId: string, address: string | null): BodyShare
}

/** What one body takes of the budget. */
export interface BodyShare {
  /** @returns false when there is no room; then nothing was taken */
  take(bytes: number): boolean
  /** Gives back everything; to be called when the body is not needed any more. May be called again. */
  release(): void
}

/** Limits in bytes; each may be reached, not exceeded. */
export interface BodyBudgetLimits {
  /** Of all bodies together. */
  readonly bytesMax: number
  /** Of one endpoint's, and of one address's. */
  readonly shareBytesMax: number
}

/**
 * Charges bytes when they have arrived: what is only announced costs nothing. Neither an endpoint nor an address can take more
 * than its share, so that whoever fills it leaves room for all others.
 */
export function createBodyBudget({ bytesMax, shareBytesMax }: BodyBudgetLimits): BodyBudget {
  const ofEndpoints = new Map<string, number>()
  const ofAddresses = new Map<string, number>()
  let taken = 0
  return {
    get takenBytes() {
      return taken
    },
    open(endpointId, knownAddress) {
      const address = knownAddress ?? ''
      let mine = 0
      return {
        take(bytes) {
          const ofEndpoint = (ofEndpoints.get(endpointId) ?? 0) + bytes
          const ofAddress = (ofAddresses.get(address) ?? 0) + bytes
          if (taken + bytes > bytesMax || ofEndpoint > shareBytesMax || ofAddress > shareBytesMax)
            return false
          ofEndpoints.set(endpointId, ofEndpoint)
          ofAddresses.set(address, ofAddress)
          taken += bytes
          mine += bytes
          return true
        },
        release() {
          if (mine === 0) return
          give(ofEndpoints, endpointId, mine)
          give(ofAddresses, address, mine)
          taken -= mine
          mine = 0
        },
      }
    },
  }
}

function give(shares: Map<string, number>, owner: string, bytes: number): void {
  const left = (shares.get(owner) ?? 0) - bytes
  if (left > 0) shares.set(owner, left)
  else shares.delete(owner)
}
