import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { sessionQuery } from '../queries.ts'
import { Button } from './Button.tsx'

/** Why a control is disabled for a key of the scope `read`. */
export const READ_ONLY = 'This key can only read.'

/** Whether the session has a key that can only read. False until it is known. */
export function useIsReader(): boolean {
  return useQuery(sessionQuery).data?.scope === 'read'
}

/** Controls that change something. A key that can only read sees them disabled, with the reason. */
export function Writes({ children }: { readonly children: ReactNode }) {
  const isReader = useIsReader()
  return (
    <fieldset className="writes" disabled={isReader} {...(isReader && REASON)}>
      {children}
    </fieldset>
  )
}

const REASON = { title: READ_ONLY, 'aria-description': READ_ONLY }

/** A link to a form that changes something: disabled as {@link Writes}. */
export function WriteLink(props: { href: string; className: string; children: ReactNode }) {
  return useIsReader() ? (
    <Button className={props.className} disabled {...REASON}>
      {props.children}
    </Button>
  ) : (
    <Link {...props} />
  )
}
