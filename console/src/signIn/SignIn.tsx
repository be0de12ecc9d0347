import { type FormEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useTitle } from '../address.ts'
import { queryClient, resume, saySignedIn } from '../live/queryClient.ts'
import { session } from '../outage.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { creel } from '../trpc.ts'
import { keepDraftsOf } from '../usePersisted.ts'
import { Mark } from './Mark.tsx'

interface Props {
  /** Undefined in a dialog, which shows its own. */
  readonly title?: string
  /** The token of a sign-in link, used at once. */
  readonly link?: string
  readonly onSignedIn: () => void
}

/** Asks for a key, or uses the sign-in link. */
function SignInForm({ title, link = '', onSignedIn }: Props) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isOfKey, setOfKey] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const isLinkUsed = useRef(false)
  const attempt = async (credential: Credential) => {
    setBusy(true)
    const refusal = await signIn(credential)
    const isIn = (refusal === null || 'link' in credential) && (await isSignedIn())
    setBusy(false)
    setProblem(refusal)
    setOfKey('key' in credential)
    if (refusal !== null && !isIn) return
    saySignedIn()
    onSignedIn()
  }
  // A link works once, so it is used once, even if the component renders again.
  useEffect(() => {
    if (link === '' || isLinkUsed.current) return
    isLinkUsed.current = true
    void attempt({ link })
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void attempt({ key: String(new FormData(event.currentTarget).get('key') ?? '') })
  }
  return (
    <form onSubmit={submit} aria-busy={isBusy}>
      {title !== undefined && (
        <>
          <Mark size={40} />
          <h1>{title}</h1>
        </>
      )}
      <p className="hint">
        Creel captures webhooks and shows them here. Sign in with an API key: it begins with{' '}
        <code>creel_live_</code> and was shown when it was created.
      </p>
      <label htmlFor="key">API key</label>
      <input
        id="key"
        name="key"
        type="password"
        className="input"
        autoComplete="current-password"
        placeholder="creel_live_…"
        spellCheck={false}
        required
        aria-invalid={problem !== null && isOfKey}
        aria-describedby="key-problem"
      />
      <p id="key-problem" className="field-problem" role="alert">
        {problem}
      </p>
      <Button type="submit" look="primary" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </Button>
      <ul className="hint">
        <li>
          On the machine that runs Creel, <code>creel open</code> signs you in without a key. On a server,{' '}
          <code>creel console</code> prints a link that works once.
        </li>
        <li>In a team, ask the owner of the workspace for a key or a link.</li>
      </ul>
    </form>
  )
}

/** Shown over the page when the session has ended. The page and its drafts are kept. */
export function SignInAgain() {
  return (
    <Dialog title="Sign in again" onClose={() => undefined} isClosable={false}>
      <div className="sign-in">
        <SignInForm onSignedIn={() => void resume()} />
      </div>
    </Dialog>
  )
}

/** Replaces the page for a browser without a session. After signing in, the page appears. */
export function SignInHere() {
  useTitle('Sign in')
  const enter = () => {
    queryClient.clear()
    session.set('in')
  }
  return (
    <main className="sign-in">
      <SignInForm title="Sign in to Creel" onSignedIn={enter} />
    </main>
  )
}

/** Beginning of the address of the page that asks to let an agent in. It is no page of the console. */
const CONSENT_PAGE = '/oauth/authorize?'

/**
 * The page of a sign-in link. Its token follows the #, so that no log contains it, and is removed from the address
 * before it is used. `?to=` names the page of the console to show then, or the page that asks to let an agent in.
 */
export function SignInScreen() {
  useTitle('Sign in')
  const [, navigate] = useLocation()
  const [link] = useState(() => location.hash.slice(1))
  const [page] = useState(() => {
    const to = new URLSearchParams(location.search).get('to') ?? '/'
    // Only a path of this service is accepted.
    return /^\/(?![/\\])/.test(to) ? to : '/'
  })
  // Not while rendering: React may do that again, and then the token would be gone.
  useLayoutEffect(() => {
    if (link !== '') history.replaceState(null, '', location.pathname)
  }, [link])
  const enter = () => {
    queryClient.clear()
    session.set('in')
    if (page.startsWith(CONSENT_PAGE)) location.replace(page)
    else navigate(page, { replace: true })
  }
  return (
    <main className="sign-in">
      <SignInForm title="Sign in to Creel" link={link} onSignedIn={enter} />
    </main>
  )
}

/** Credential of a browser: a pasted key, or the token of a sign-in link, which works once. */
type Credential = { readonly key: string } | { readonly link: string }

/**
 * Signs this browser in.
 *
 * @returns null, or the reason of the refusal, in the service's words
 */
async function signIn(credential: Credential): Promise<string | null> {
  try {
    const answer = await fetch('/console/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(credential),
    })
    if (answer.ok) return null
    const problem: unknown = await answer.json().catch(() => null)
    if (typeof problem === 'object' && problem !== null && 'detail' in problem) return String(problem.detail)
    return `The service answered ${answer.status}.`
  } catch {
    return 'The service cannot be reached. Check your connection and try again.'
  }
}

/**
 * Whether this browser has a session: then a link that was used already is not needed. Drafts of another workspace are
 * deleted before its page is shown.
 */
async function isSignedIn(): Promise<boolean> {
  return await creel.sessions.current.query({}).then(
    (session) => {
      keepDraftsOf(session)
      return true
    },
    () => false,
  )
}
