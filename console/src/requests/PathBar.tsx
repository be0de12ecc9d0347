import { ChevronDown } from 'lucide-react'
import { useLocation } from 'wouter'
import { useEndpointCall } from '../endpoints/useEndpointCall.ts'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Menu, MenuItem } from '../parts/Menu.tsx'
import { useIsReader } from '../parts/Writes.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { termFor } from '../words/grammar.ts'
import { jsonValueOf, type Line, plainValueOf } from '../words/jsonLines.ts'
import { problemOf } from '../words/problem.ts'

interface Props {
  readonly endpoint: Endpoint
  readonly line: Line | null
  readonly onFind: (search: string) => void
}

const FIND_MAX = 100
/** The API's limit. The oldest column gives way to a fourth one. */
const COLUMNS_MAX = 3

/** The path and the value of the chosen line, with commands that use them. */
export function PathBar({ endpoint, line, onFind }: Props) {
  const { columns, id: endpointId } = endpoint
  const isReader = useIsReader()
  const [, navigate] = useLocation()
  const show = useEndpointCall(endpointId, (paths: string[]) =>
    creel.endpoints.update.mutate({ endpointId, columns: paths }),
  )
  if (line === null || line.path === '') {
    return (
      <div className="path-bar">
        <span className="hint">Click a line to copy its path</span>
      </div>
    )
  }
  const { path } = line
  const isShown = columns.includes(path)
  const next = isShown ? columns.filter((one) => one !== path) : [...columns, path].slice(-COLUMNS_MAX)
  const value = plainValueOf(line)
  const json = jsonValueOf(line)
  const use = new URLSearchParams({
    path,
    ...(json === undefined
      ? {}
      : { value: json.startsWith('"') || !/^[-\dtfn]/.test(json) ? JSON.stringify(value) : json }),
  })
  return (
    <div className="path-bar">
      <code title={path}>{path}</code>
      <CopyButton label="Copy path" text={() => path} className="button quiet">
        path
      </CopyButton>
      {value !== '' && (
        <CopyButton label="Copy value" text={() => value} className="button quiet">
          value
        </CopyButton>
      )}
      {value.length > 1 && value.length < FIND_MAX && (
        <Button look="quiet" onClick={() => onFind(termFor('text', value))}>
          Find same value
        </Button>
      )}
      <Menu
        label="Use path in"
        button={
          <>
            Use in <ChevronDown size={12} />
          </>
        }
      >
        <MenuItem onClick={() => navigate(`/e/${endpointId}/actions/new?${use}`)}>Action condition</MenuItem>
        <MenuItem onClick={() => navigate(`/e/${endpointId}/rules?${use}`)}>Rule step</MenuItem>
        <MenuItem isDisabled={isReader} onClick={() => show.mutate(next)}>
          {isShown ? 'No column of the list' : 'Column of the list'}
        </MenuItem>
        <MenuItem onClick={() => navigate(`/watchdogs/new?endpoint=${endpointId}&${use}`)}>
          Watchdog condition
        </MenuItem>
      </Menu>
      {show.error !== null && <span className="bad">{problemOf(show.error).detail}</span>}
    </div>
  )
}
