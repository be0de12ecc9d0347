import {
  Component,
  type ComponentType,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { outage, reconnectMs, watched } from '../outage.ts'
import { forgetDrafts } from '../usePersisted.ts'
import { ago, clock } from '../words/format.ts'
import { Button } from './Button.tsx'
import { Bones } from './Problem.tsx'

interface Props {
  /** The boundary starts over when this changes, such as the address. */
  readonly of?: string
  /** Shown beside the words, in the place of a part. Without it the boundary is that of a screen. */
  readonly instead?: ReactNode
  readonly children: ReactNode
}

interface State {
  readonly error: unknown
  readonly of: string | undefined
}

/** Shows an error of a screen, or of a part of one, in its place, so that the rest of the page stays usable. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null, of: this.props.of }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  static getDerivedStateFromProps({ of }: Props, state: State) {
    return of === state.of ? null : { of, error: null }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    const isOutdated = error instanceof OutdatedPage
    const { instead } = this.props
    const what = instead === undefined ? 'This screen' : 'A part of this page'
    const words = isOutdated
      ? 'A new version of Creel is there. Reload; drafts are kept.'
      : `${what} could not be shown.`
    const acts = (
      <span className="acts">
        <Button look="small" onClick={() => location.reload()}>
          Reload
        </Button>
        {!isOutdated && (
          <Button look="small" onClick={() => this.setState({ error: null })}>
            Try again
          </Button>
        )}
        {!isOutdated && (
          <Button look="small" onClick={startOver}>
            Discard drafts
          </Button>
        )}
      </span>
    )
    if (instead !== undefined) {
      return (
        <>
          {instead}
          <p className="banner outage" role="alert">
            {words} {acts}
          </p>
        </>
      )
    }
    return (
      <main id="main" className="pad">
        <div className="problem" role="alert">
          <p>{words}</p>
          {acts}
        </div>
      </main>
    )
  }
}

/** Reloads without drafts, of which one may be the cause. */
function startOver(): void {
  forgetDrafts()
  location.reload()
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

/** The service has another version of the page, which lacks a file of this one. Only a reload helps. */
class OutdatedPage extends Error {
  override readonly name = 'OutdatedPage'
}

/** The entry script of this page. Its name changes with its content. */
const ENTRY = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.src

/**
 * A screen whose code is loaded when it is shown. A failed load is tried again until the service answers, so that an
 * outage never leaves an empty place.
 *
 * @throws OutdatedPage, when it is rendered, if the file is gone because the service was upgraded
 */
export function lazyScreen<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await loaded(load) }))
}

/**
 * A part of a screen whose code is loaded when it is shown, like {@link lazyScreen}. Its errors end in its place.
 *
 * @param wait shown while the code loads, and when the part cannot be shown
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  wait: (props: Props) => ReactNode = () => null,
): ComponentType<Props> {
  const Part = lazyScreen(load)
  return (props) => {
    const instead = wait(props)
    return (
      <Boundary instead={instead}>
        <Suspense fallback={instead}>
          <Part {...props} />
        </Suspense>
      </Boundary>
    )
  }
}

async function loaded<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await load()
    } catch (error) {
      const version = await servedVersion()
      if (version === 'other') throw new OutdatedPage()
      // Browsers may keep a failed import for as long as the page lives. Only a reload asks again.
      if (version === 'same' && failures > 0) reloadOnce(error)
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectMs(failures)))
  }
}

/** The least time between two reloads that the page makes by itself, in milliseconds. */
const RELOAD_MS = 60_000
const RELOADED_AT = 'creel reloaded at'

/**
 * Reloads the page, unless a form is open: not all that is typed is kept.
 *
 * @throws error, if there is a form, or a reload of a moment ago did not help
 */
function reloadOnce(error: unknown): void {
  if (document.querySelector('form') !== null) throw error
  if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < RELOAD_MS) throw error
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  location.reload()
}

/** Whether the service serves this version of the page or another; undefined while it does not answer. */
export async function servedVersion(): Promise<'same' | 'other' | undefined> {
  try {
    const response = await watched(() => fetch(new URL('/console/', location.href), { cache: 'no-store' }))
    if (!response.ok) return undefined
    const name = ENTRY === undefined ? '' : (new URL(ENTRY).pathname.split('/').at(-1) ?? '')
    return (await response.text()).includes(name) ? 'same' : 'other'
  } catch {
    return undefined
  }
}
