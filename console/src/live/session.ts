import { Store } from './store.ts'

/** Whether the service takes this browser's calls: it says otherwise by 401. */
export const session = new Store<'in' | 'out'>('in')

/** To be called with the status of every refusal. */
export function hearStatus(status: number | undefined): void {
  if (status === 401 && session.get() === 'in') session.set('out')
}
