import { type ReactNode, useEffect } from 'react'

interface Props {
  readonly title: string
  /** Beside the title. */
  readonly head?: ReactNode
  readonly children: ReactNode
}

/** A page of the workspace. */
export function Page({ title, head, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Creel`
  }, [title])
  return (
    <main id="main" className="page">
      <header className="page-bar">
        <h1>{title}</h1>
        {head}
      </header>
      <div className="page-body">{children}</div>
    </main>
  )
}
