import { type ReactNode, useEffect } from 'react'

/** Header of a page of the workspace; sets the page's title, too. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Creel`
  }, [title])
  return (
    <header className="page-bar">
      <h1>{title}</h1>
      {children}
    </header>
  )
}
