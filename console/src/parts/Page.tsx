import type { ReactNode } from 'react'
import { useTitle } from '../address.ts'

export function Page({ title, head, children }: { title: string; head?: ReactNode; children: ReactNode }) {
  useTitle(title)
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

interface FactProps {
  readonly name: string
  readonly title?: string | undefined
  readonly children: ReactNode
}

/** A name and its value, in a list of facts. */
export const Fact = ({ name, title, children }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd title={title}>{children}</dd>
  </div>
)

interface CardProps {
  readonly title: ReactNode
  /** Its name for screen readers, if the title is not the name. */
  readonly name?: string
  /** Target of links. */
  readonly id?: string
  readonly acts?: ReactNode
  readonly children: ReactNode
}

/** A part of a page in a frame. */
export function Card({ title, name, id, acts, children }: CardProps) {
  return (
    <section className="card" id={id} aria-label={name ?? (typeof title === 'string' ? title : undefined)}>
      <div className="section-head">
        <h2>{title}</h2>
        {acts}
      </div>
      {children}
    </section>
  )
}
