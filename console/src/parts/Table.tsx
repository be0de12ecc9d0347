import type { ReactNode } from 'react'

interface Props {
  readonly heads: readonly string[]
  /** The one of them that only screen readers are told. */
  readonly hidden?: string
  /** The rows. */
  readonly children: ReactNode
}

/** A table that scrolls sideways where it is too wide. */
export function Table({ heads, hidden, children }: Props) {
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                <span className={head === hidden ? 'sr-only' : undefined}>{head}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
