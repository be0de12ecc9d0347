import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Mark } from '../parts/Mark.tsx'
import { type Credential, signIn } from './signIn.ts'

interface Props {
  readonly title: string
  /** The token of a sign-in link, used at once. */
  readonly link?: string
  readonly onSignedIn: () => void
}

/** Asks for a key, or uses the sign-in link. */
export function SignInForm({ title, link = '', onSignedIn }: Props) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const isLinkUsed = useRef(false)
  const attempt = async (credential: Credential) => {
    setBusy(true)
    const refusal = await signIn(credential)
    setBusy(false)
    setProblem(refusal)
    if (refusal === null) onSignedIn()
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
      <Mark size={40} />
      <h1>{title}</h1>
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
        aria-invalid={problem !== null}
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
