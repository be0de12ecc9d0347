import { CONNECTION_FIELDS } from '@creel/core/engine/words'
import { useQuery } from '@tanstack/react-query'
import {
  ChevronDown,
  FileDown,
  GitCompare,
  Link2,
  Pencil,
  Play,
  Search,
  Send,
  Share2,
  StickyNote,
  Trash2,
} from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { lazyPart } from '../parts/Boundary.tsx'
import { Button } from '../parts/Button.tsx'
import { CopyButton, copyText, download } from '../parts/CopyButton.tsx'
import { Menu, MenuItem } from '../parts/Menu.tsx'
import { useShortcuts } from '../parts/shortcuts.ts'
import { toast } from '../parts/Toasts.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { actionsQuery } from '../queries.ts'
import { type Answers, creel, type Endpoint, type RequestDetail } from '../trpc.ts'
import { asCurl, asFetch } from '../words/copyAs.ts'
import { duration } from '../words/format.ts'
import { termFor } from '../words/grammar.ts'
import { problemOf } from '../words/problem.ts'

const ShareRequest = lazyPart(async () => (await import('./ShareRequest.tsx')).ShareRequest)
const ReplayToUrl = lazyPart(async () => (await import('../replays/ReplayToUrl.tsx')).ReplayToUrl)

interface Props {
  readonly endpoint: Endpoint
  readonly request: RequestDetail
  readonly onDeliveries: () => void
  readonly onFind: (search: string) => void
  readonly onCompare: () => void
  readonly onEdit: () => void
  readonly onNote: () => void
  readonly onRemove: () => void
}

export function RequestTools({
  endpoint,
  request,
  onDeliveries,
  onFind,
  onCompare,
  onEdit,
  onNote,
  onRemove,
}: Props) {
  const actions = useQuery(actionsQuery(endpoint.id))
  const [open, setOpen] = useState<'url' | 'share' | null>(null)
  const ids = { endpointId: endpoint.id, requestId: request.id }
  const replay = useCall(
    (actionId?: string) => creel.requests.replay.mutate({ ...ids, actionId }),
    [
      ['attempts', endpoint.id, request.id],
      ['request', endpoint.id, request.id],
    ],
    undefined,
    onDeliveries,
  )
  useShortcuts({
    replay: () => {
      if (!replay.isPending) replay.mutate(undefined)
    },
    curl: () => void copyText(asCurl(request)),
  })
  return (
    <div className="acts">
      <Writes>
        <span className="split">
          <Button
            look="primary"
            {...replay.button(undefined)}
            title="Replay through all matching actions (r)"
          >
            <Play size={13} /> {replay.isPending ? 'Sending…' : 'Replay'}
          </Button>
          <Menu className="button primary" label="Replay through" button={<ChevronDown size={13} />}>
            {actions.data?.actions.map(({ id, name }) => (
              <MenuItem key={id} icon={Play} isDisabled={replay.isPending} onClick={() => replay.mutate(id)}>
                {name}
              </MenuItem>
            ))}
            <hr />
            <MenuItem icon={Send} onClick={() => setOpen('url')}>
              To a URL…
            </MenuItem>
            <MenuItem icon={Pencil} onClick={onEdit} shortcut="e">
              Edit and send…
            </MenuItem>
          </Menu>
        </span>
      </Writes>
      <CopyButton className="button" label="Copy as curl (c)" text={() => asCurl(request)}>
        curl
      </CopyButton>
      <CopyButton className="button spare" label="Copy as fetch" text={() => asFetch(request)}>
        fetch
      </CopyButton>
      {request.note === null && !request.shredded && (
        <Writes>
          <Button onClick={onNote} label="Add a note">
            <StickyNote size={13} /> <span className="spare">Add a note</span>
          </Button>
        </Writes>
      )}
      <Menu
        button={
          <>
            More <ChevronDown size={13} />
          </>
        }
      >
        <Writes>
          <MenuItem icon={Pencil} onClick={onEdit} shortcut="e">
            Edit and send…
          </MenuItem>
        </Writes>
        <MenuItem icon={GitCompare} onClick={onCompare} shortcut="d">
          Compare with the previous…
        </MenuItem>
        <MenuItem icon={Link2} onClick={() => void copyText(location.href)}>
          Copy link
        </MenuItem>
        <Writes>
          <MenuItem icon={Share2} onClick={() => setOpen('share')}>
            Share…
          </MenuItem>
        </Writes>
        {request.eventId !== null && (
          <MenuItem icon={Search} onClick={() => onFind(termFor('event', request.eventId ?? ''))}>
            Find this event
          </MenuItem>
        )}
        {request.label !== null && (
          <MenuItem icon={Search} onClick={() => onFind(termFor('label', request.label ?? ''))}>
            Find others of this type
          </MenuItem>
        )}
        <hr />
        <ExportItems request={request} />
        <hr />
        <Writes>
          <MenuItem icon={Trash2} onClick={onRemove} isDangerous shortcut="⌫">
            Move to recycle bin
          </MenuItem>
        </Writes>
      </Menu>
      <output className="outcome" aria-live="polite">
        {replay.error !== null && <span className="bad">{problemOf(replay.error).detail}</span>}{' '}
        {replay.error !== null && actions.data?.actions.length === 0 && (
          <Link className="link" href={`/e/${endpoint.id}/actions/new`}>
            Add action
          </Link>
        )}
        {replay.data !== undefined && outcomeWords(replay.data)}
      </output>
      {open === 'url' && <ReplayToUrl {...ids} onClose={() => setOpen(null)} />}
      {open === 'share' && <ShareRequest {...ids} onClose={() => setOpen(null)} />}
    </div>
  )
}

/** Result of a replay, action by action. */
function outcomeWords({ outcomes }: Answers['requests']['replay']): string {
  if (outcomes.length === 0) return 'No active action matches this request.'
  return outcomes
    .map(({ actionName, durationMs, error, state, statusCode }) =>
      state === 'Skipped'
        ? `${actionName}: skipped, its condition does not match`
        : `${actionName}: ${statusCode ?? error ?? state} in ${duration(durationMs)}`,
    )
    .join(' · ')
}

const FORMATS = [
  { words: 'Save as .http', extension: 'http', write: asHttp },
  { words: 'Save as fixture (JSON)', extension: 'json', write: asJson },
] as const

/** Saves a request as a file. Fetches an omitted body first. */
async function save(request: RequestDetail, extension: string, write: (whole: RequestDetail) => string) {
  const { bodyOmitted, endpointId, id } = request
  const whole = bodyOmitted ? await creel.requests.get.query({ endpointId, requestId: id }) : request
  download(write(whole), `request-${id}.${extension}`)
}

async function saveHar({ endpointId, id: requestId }: RequestDetail) {
  const har = { endpointId, requestId, format: 'har', includeSecrets: true } as const
  const { content, fileName } = await creel.requests.export.query(har)
  download(content, fileName)
}

const refused = (error: unknown) => toast(problemOf(error).detail)

function ExportItems({ request }: { request: RequestDetail }) {
  return (
    <>
      <MenuItem icon={FileDown} onClick={() => void saveHar(request).catch(refused)}>
        Save as HAR
      </MenuItem>
      {FORMATS.map(({ words, extension, write }) => (
        <MenuItem
          key={extension}
          icon={FileDown}
          onClick={() => void save(request, extension, write).catch(refused)}
        >
          {words}
        </MenuItem>
      ))}
    </>
  )
}

/** A `.http` file for editors: request line, fields, body. */
function asHttp({ body, bodyIsBinary, method, rawHeaders, url }: RequestDetail): string {
  const fields = rawHeaders
    .filter(({ name }) => !CONNECTION_FIELDS.has(name.toLowerCase()))
    .map(({ name, value }) => `${name}: ${value}`)
  const note = bodyIsBinary ? ['# Binary body, in base64:'] : []
  return `${[...note, `${method} ${url}`, ...fields, '', body ?? ''].join('\n')}\n`
}

/** The request in the API's format, without delivery results; for tests. */
function asJson({
  body,
  bodyIsBinary,
  contentType,
  label,
  method,
  path,
  queryString,
  rawHeaders,
}: RequestDetail): string {
  const fixture = { method, path, queryString, headers: rawHeaders, contentType, label, body, bodyIsBinary }
  return `${JSON.stringify(fixture, null, 2)}\n`
}
