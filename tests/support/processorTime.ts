/**
 * Reads how much processor time this process has used since the call, in milliseconds. It does not grow while other
 * programs have the processor, so a bound of it holds on a busy machine.
 */
export function processorTime(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
