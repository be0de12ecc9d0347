import { useState } from 'react'
import { useLocation } from 'wouter'
import { queryClient } from '../live/queryClient.ts'
import { session } from '../live/session.ts'
import { SignInForm } from './SignInForm.tsx'

/** Beginning of the address of the page that asks to let an agent in. It is no page of the console. */
const CONSENT_PAGE = '/oauth/authorize?'

/**
 * The page of a sign-in link. Its token follows the #, so that no log contains it, and is removed from the address
 * before it is used. `?to=` names the page of the console to show then, or the page that asks to let an agent in.
 */
export function SignInScreen() {
  const [, navigate] = useLocation()
  const [link] = useState(() => {
    const token = location.hash.slice(1)
    if (token !== '') history.replaceState(null, '', location.pathname)
    return token
  })
  const [page] = useState(() => {
    const to = new URLSearchParams(location.search).get('to') ?? '/'
    // Only a path of this service is accepted.
    return /^\/(?![/\\])/.test(to) ? to : '/'
  })
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
