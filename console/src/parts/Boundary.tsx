import { Component, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { outage } from '../live/outage.ts'
import { ago, clock } from '../words/format.ts'
import { Bones } from './Bones.tsx'
import { Button } from './Button.tsx'
import { OutdatedPage } from './lazyPart.tsx'

interface Props {
  /** The boundary starts over when this changes, such as the address. */
  readonly of: string
  readonly children: ReactNode
}

/** Shows an error of a screen in its place, so that the rest of the page stays usable. */
export class Boundary extends Component<Props, { readonly error: unknown; readonly of: string }> {
  override state: { readonly error: unknown; readonly of: string } = { error: null, of: this.props.of }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  static getDerivedStateFromProps({ of }: Props, state: { readonly of: string }) {
    return of === state.of ? null : { of, error: null }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    const isOutdated = error instanceof OutdatedPage
    return (
      <main id="main" className="pad">
        <div className="problem" role="alert">
          <p>
            {isOutdated
              ? 'A new version of Creel is there. Reload; drafts are kept.'
              : 'This screen could not be shown.'}
          </p>
          <p className="acts">
            <Button look="small" onClick={() => location.reload()}>
              Reload
            </Button>
            {!isOutdated && (
              <Button look="small" onClick={() => this.setState({ error: null })}>
                Try again
              </Button>
            )}
          </p>
        </div>
      </main>
    )
  }
}

/** Placeholder of a screen whose code is loading. */
export function Loading() {
  return (
    <main id="main" className="wait" aria-busy="true">
      <Bones />
    </main>
  )
}

/** An outage shorter than this is not worth a word, in milliseconds. */
const QUIET_MS = 1_500

/** Says that the service does not answer, and since when. */
export function OutageNote() {
  const since = useSyncExternalStore(outage.subscribe, outage.get)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (since === null) return undefined
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [since])
  if (since === null || now - since < QUIET_MS) return null
  const at = new Date(since).toISOString()
  return (
    <p className="banner outage" role="status">
      The service has not answered since {clock(at)}, {ago(at, now)}. Drafts are kept.
    </p>
  )
}
