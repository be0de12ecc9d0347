import type { ReactNode } from 'react'

interface Props {
  readonly title: ReactNode
  /** Its name for screen readers, if the title is not the name. */
  readonly name?: string
  /** Where links lead to it. */
  readonly id?: string
  /** Beside the title. */
  readonly acts?: ReactNode
  readonly children: ReactNode
}

/** A part of a page in a frame. */
export function Card({ title, name, id, acts, children }: Props) {
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
