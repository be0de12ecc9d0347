/** Share of a core from which on the other work of the process counts as busy. */
const BUSY_SHARE = 0.5
/** Sends a second while the process is busy: a few hundredths of a core. */
const BUSY_SENDS_PER_SECOND = 25
/** Least sends that start together while the process is busy: one claim and one wake-up serve them all. */
const BUSY_SENDS_TOGETHER = 10
/** Processor time of one send, in microseconds, which is not other work. */
const SEND_US = 1_000
/** Interval over which processor time is measured, in milliseconds. */
const SAMPLE_MS = 250

/** Room for sends, so that captures of the same process come first. */
export interface Pace {
  /** Sends that may start now; `most` unless the process is busy. */
  room(most: number): number
  /** Counts sends that started. */
  count(sends: number): void
}

/** Measures the processor time of this process from now on. */
export function sendPace(): Pace {
  let sampledAt = performance.now()
  let cpu = process.cpuUsage()
  let sendsOfSample = 0
  let isBusy = false
  let room = 0
  let filledAt = sampledAt

  const sample = (now: number) => {
    const passedMs = now - sampledAt
    if (passedMs < SAMPLE_MS) return
    const used = process.cpuUsage(cpu)
    const othersMs = (used.user + used.system - sendsOfSample * SEND_US) / 1000
    isBusy = othersMs / passedMs > BUSY_SHARE
    cpu = process.cpuUsage()
    sampledAt = now
    sendsOfSample = 0
  }

  return {
    room(most) {
      const now = performance.now()
      sample(now)
      room = Math.min(BUSY_SENDS_PER_SECOND, room + ((now - filledAt) / 1000) * BUSY_SENDS_PER_SECOND)
      filledAt = now
      if (!isBusy) return most
      return room < BUSY_SENDS_TOGETHER ? 0 : Math.min(most, Math.floor(room))
    },
    count(sends) {
      sendsOfSample += sends
      room = Math.max(0, room - sends)
    },
  }
}
