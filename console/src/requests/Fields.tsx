import { CopyButton } from '../parts/CopyButton.tsx'
import { visible } from '../words/visible.ts'

interface Props {
  readonly fields: readonly { readonly name: string; readonly value: string }[]
  readonly empty: string
}

/** Names and values in their order, with repeats. */
export function Fields({ fields, empty }: Props) {
  if (fields.length === 0) return <p className="hint pad">{empty}</p>
  return (
    <table className="fields">
      <thead className="sr-only">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, value }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: fields may repeat, and never move
          <tr key={at}>
            <th scope="row">{visible(name)}</th>
            <td>
              {visible(value)}
              <CopyButton label={`Copy ${name}`} text={() => value} className="button quiet icon small" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
