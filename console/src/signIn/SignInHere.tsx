import { queryClient } from '../live/queryClient.ts'
import { session } from '../live/session.ts'
import { SignInForm } from './SignInForm.tsx'

/** In place of a page, for a browser that has no session yet. Signed in, it shows that page. */
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
