import { type ReactNode, useEffect } from 'react'

/** The head of a place of the workspace, and the title of the page. */
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
