import { ChevronDown } from 'lucide-react'
import { useLocation } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Menu, MenuItem } from '../parts/Menu.tsx'
import { termFor } from '../words/grammar.ts'
import { jsonValueOf, type Line, plainValueOf } from '../words/jsonLines.ts'

interface Props {
  readonly endpointId: string
  readonly line: Line | null
  readonly onFind: (search: string) => void
}

const FIND_MAX = 100

/** The path and the value of the chosen line, with commands that use them. */
export function PathBar({ endpointId, line, onFind }: Props) {
  const [, navigate] = useLocation()
  if (line === null || line.path === '') {
    return (
      <div className="path-bar">
        <span className="hint">Click a line to copy its path</span>
      </div>
    )
  }
  const { path } = line
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
        <MenuItem onClick={() => navigate(`/watchdogs/new?endpoint=${endpointId}&${use}`)}>
          Watchdog condition
        </MenuItem>
      </Menu>
    </div>
  )
}
