import { DomainError } from './errors.ts'

/**
 * The procedures of a relay: all that `creel listen` needs for its one endpoint, and none that makes the service call
 * another server. A procedure that is not listed here does not exist on a relay.
 */
export const RELAYED: ReadonlySet<string> = new Set([
  'me.get',
  'endpoints.list',
  'endpoints.get',
  'endpoints.stats',
  'endpoints.update',
  'endpoints.remove',
  'requests.list',
  'requests.await',
  'requests.find',
  'requests.get',
  'requests.body',
  'requests.shape',
  'requests.follow',
  'requests.remove',
  'requests.clear',
  'requests.bulkDelete',
  'requests.replay',
  'actions.list',
  'deliveries.list',
  'deliveries.get',
  'deliveries.report',
  'conditions.try',
  'verification.try',
  'providers.list',
  'samples.list',
])

/**
 * Refuses a procedure that a relay does not have.
 *
 * @throws DomainError `forbidden`
 */
export function admitOnRelay(procedure: string): void {
  if (RELAYED.has(procedure)) return
  throw new DomainError('forbidden', 'A relay has no such operation: it only captures and shows requests.')
}
