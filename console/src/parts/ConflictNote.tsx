import { Button } from './Button.tsx'
import type { Conflict } from './useForm.ts'

/** Shown when another user has saved meanwhile: their version, the draft, and a choice. */
export function ConflictNote({ conflict }: { conflict: Conflict }) {
  const { keepMine, mine, takeTheirs, theirs } = conflict
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])].filter(
    (name) => shown(theirs, name) !== shown(mine, name),
  )
  return (
    <section className="problem conflict" role="alert" aria-label="Changed elsewhere">
      <p>
        <b>This was changed elsewhere while you edited it.</b> Nothing was overwritten.
      </p>
      <table className="changes">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Saved value</th>
            <th scope="col">Your value</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <pre>{shown(theirs, name)}</pre>
              </td>
              <td>
                <pre>{shown(mine, name)}</pre>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="acts">
        <Button onClick={takeTheirs}>Use saved values</Button>
        <Button onClick={keepMine}>Keep my values</Button>
      </p>
    </section>
  )
}

function shown(draft: object, name: string): string {
  const value: unknown = Reflect.get(draft, name)
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}
