import { useEffect, useRef } from 'react'
import { queryClient } from '../live/queryClient.ts'
import { session } from '../live/session.ts'
import { SignInForm } from './SignInForm.tsx'

/** Shown over the page when the session has ended. The page and its drafts are kept. */
export function SignInAgain() {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => place.current?.showModal(), [])
  const enter = () => {
    session.set('in')
    void queryClient.invalidateQueries()
  }
  return (
    <dialog
      ref={place}
      className="dialog"
      aria-label="Sign in again"
      onCancel={(event) => event.preventDefault()}
    >
      <div className="sign-in">
        <SignInForm title="Sign in again" onSignedIn={enter} />
      </div>
    </dialog>
  )
}
