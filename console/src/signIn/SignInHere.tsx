import { queryClient } from '../live/queryClient.ts'
import { session } from '../live/session.ts'
import { SignInForm } from './SignInForm.tsx'

/** Replaces the page for a browser without a session. After signing in, the page appears. */
export function SignInHere() {
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
