import { Store } from './store.ts'

/** Whether this browser is signed in. A 401 means that it is not. */
export const session = new Store<'in' | 'out'>('in')

/** Call with the status of every refusal. */
export function hearStatus(status: number | undefined): void {
  if (status === 401 && session.get() === 'in') session.set('out')
}
