import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { asRead } from '../body/asRead.ts'
import { layoutOf, rawLines } from '../body/layout.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Table } from '../parts/Table.tsx'
import { requestQuery } from '../queries.ts'
import type { RequestDetail } from '../trpc.ts'
import { type Change, changesOf, valuesByName, valuesByPath } from '../words/diff.ts'
import { bytes, fullTime, plural } from '../words/format.ts'

interface Props {
  readonly endpointId: string
  readonly request: RequestDetail
  readonly otherId: number
  /** Compares with another request; undefined closes. */
  readonly onOther: (id: number | undefined) => void
}

/** Compares two requests: values that were added, removed and changed, by path. The older request is on the left. */
export function Compare({ endpointId, request, otherId, onOther }: Props) {
  const other = useQuery(requestQuery(endpointId, otherId))
  const [typed, setTyped] = useState(String(otherId))
  const [before, after] =
    other.data === undefined ? [] : otherId < request.id ? [other.data, request] : [request, other.data]
  return (
    <Dialog title={`Compare #${request.id} with #${otherId}`} size="wide" onClose={() => onOther(undefined)}>
      <form
        className="acts"
        onSubmit={(event) => {
          event.preventDefault()
          if (/^\d{1,15}$/.test(typed)) onOther(Number(typed))
        }}
      >
        <label htmlFor="compare-with">Compare with request</label>
        <input
          id="compare-with"
          className="input"
          style={{ inlineSize: '10em' }}
          inputMode="numeric"
          value={typed}
          onChange={(event) => setTyped(event.target.value.replace('#', ''))}
        />
        <Button type="submit">Compare</Button>
      </form>
      <Problem error={other.error} />
      {before !== undefined && after !== undefined && <Difference before={before} after={after} />}
    </Dialog>
  )
}

function Difference({ before, after }: { before: RequestDetail; after: RequestDetail }) {
  const body = useMemo(() => changesOf(bodyValues(before), bodyValues(after)), [before, after])
  const headers = useMemo(
    () => changesOf(valuesByName(before.rawHeaders), valuesByName(after.rawHeaders)),
    [before, after],
  )
  return (
    <div className="compare">
      <div className="compare-sides">
        {[before, after].map((one) => (
          <p key={one.id}>
            <b>#{one.id}</b> {one.label} · {fullTime(one.receivedAt)} · {bytes(one.sizeBytes)}
          </p>
        ))}
      </div>
      {before.bodyOmitted || after.bodyOmitted ? (
        <p className="banner">The bodies are too long to compare.</p>
      ) : (
        <Changes title="Body" changes={body} before={before.id} after={after.id} />
      )}
      <Changes title="Headers" changes={headers} before={before.id} after={after.id} />
    </div>
  )
}

interface ChangesProps {
  readonly title: string
  readonly changes: readonly Change[]
  readonly before: number
  readonly after: number
}

const SHOWN = 300

function Changes({ title, changes, before, after }: ChangesProps) {
  return (
    <section aria-label={title}>
      <h3>
        {title}: {changes.length === 0 ? 'the same' : plural(changes.length, 'difference')}
      </h3>
      {changes.length > 0 && (
        <Table look="changes" heads={['Path', `#${before}`, `#${after}`]}>
          {changes.slice(0, SHOWN).map((change) => (
            <tr key={change.path} data-change={change.change}>
              <th scope="row">{change.path}</th>
              <td>{change.before ?? <span className="hint">absent</span>}</td>
              <td>{change.after ?? <span className="hint">absent</span>}</td>
            </tr>
          ))}
        </Table>
      )}
      {changes.length > SHOWN && <p className="hint">and {plural(changes.length - SHOWN, 'other')}</p>}
    </section>
  )
}

/** Values of a body by path if it has members and they can be compared, else line by line. */
function bodyValues(request: RequestDetail): Map<string, string> {
  const { body, isBinary } = asRead(request)
  if (body === null) return new Map()
  const { bodyTruncated: isTruncated, contentType, sizeBytes } = request
  const { lines } = layoutOf({ body, isBinary, isTruncated, contentType, sizeBytes })
  const byPath = lines === null ? undefined : valuesByPath(lines)
  return byPath ?? new Map(rawLines(body).map(({ pieces }, at) => [`line ${at + 1}`, pieces[0]?.text ?? '']))
}
