import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WholeRequest } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { openInBrowser } from '../browser.ts'
import { ClientError } from '../clientError.ts'
import type { LocalSender } from '../listen/localSender.ts'
import type { Shown } from '../listen/view.ts'
import { copyToClipboard } from '../output/write.ts'
import type { TerminalTools } from '../tools.ts'
import type { ScreenActions } from './screenView.ts'

/**
 * Creates the actions of the screen's keys.
 *
 * @param sender null for a viewer
 */
export function screenActions(
  api: ApiClient,
  sender: LocalSender | null,
  { curlCommand }: Pick<TerminalTools, 'curlCommand'>,
): ScreenActions {
  return {
    async replay({ request }) {
      const { endpointId, id: requestId } = request
      const to = sender === null ? undefined : 'listeners'
      await api.calls.requests.replay({ endpointId, requestId, to })
      return sender === null
        ? `Replayed #${request.id} through the actions.`
        : `Replayed #${request.id} to the listeners.`
    },
    async edit({ request }) {
      if (sender === null)
        throw new ClientError('No local server to send to. Start `creel listen --to <port>`.')
      const edited = await editedRequest(request)
      if (edited === undefined) return 'No change, nothing sent.'
      const answer = await sender.send(edited)
      return `Edited #${request.id}: ${answer.statusCode ?? answer.error} in ${answer.durationMs} ms`
    },
    async copy({ request }) {
      const url = sender === null ? request.url : await sender.urlOf(request)
      if (url === undefined) throw new ClientError('Its path would leave the base path of the target.')
      copyToClipboard(await curlCommand(request, url))
      return `Copied #${request.id} as a curl command.`
    },
    async open({ request }) {
      const url = `${api.connection.url}/console/e/${request.endpointId}?r=${request.id}`
      await openInBrowser(url)
      return `Opened ${url}`
    },
  }
}

/** Removes a final line break that the editor has added. */
function withoutAddedEnd(edited: string, original: string): string {
  return original.endsWith('\n') ? edited : edited.replace(/\r?\n$/, '')
}

/** The request with the decoded text as its body, which goes out without the encoding. */
function decodedRequest({ decodedBody, ...request }: Shown['request']): WholeRequest {
  if (decodedBody == null || decodedBody.text === null) return request
  const rawHeaders = request.rawHeaders.filter(({ name }) => name.toLowerCase() !== 'content-encoding')
  return { ...request, body: decodedBody.text, bodyIsBinary: false, rawHeaders }
}

/** Opens the request in the user's editor. Returns the edited request; undefined if it was not changed. */
async function editedRequest(captured: Shown['request']): Promise<WholeRequest | undefined> {
  const request = decodedRequest(captured)
  if (request.bodyIsBinary) throw new ClientError('A binary body cannot be edited as text.')
  const folder = await mkdtemp(join(tmpdir(), 'creel-edit-'))
  try {
    const file = join(folder, `request-${request.id}.http`)
    const text = messageText(request)
    await writeFile(file, text, { mode: 0o600 })
    const editor = process.env.VISUAL ?? process.env.EDITOR ?? 'vi'
    // Run by a shell, like git does: the variable may hold options.
    const { exitCode } = Bun.spawnSync(['sh', '-c', `${editor} "$1"`, editor, file], {
      stdio: ['inherit', 'inherit', 'inherit'],
    })
    if (exitCode !== 0) throw new ClientError(`The editor exited with ${exitCode}. Nothing was sent.`)
    const edited = withoutAddedEnd(await readFile(file, 'utf8'), text)
    return edited === text ? undefined : readMessage(edited, request)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A request as editable text: its first line, its headers, an empty line, its body. */
export function messageText({ method, path, queryString, rawHeaders, body }: WholeRequest): string {
  const target = `${path === '' ? '/' : path}${queryString === null ? '' : `?${queryString}`}`
  return [
    `${method} ${target}`,
    ...rawHeaders.map(({ name, value }) => `${name}: ${value}`),
    '',
    body ?? '',
  ].join('\n')
}

/**
 * Parses a text of {@link messageText} after the user has edited it.
 *
 * @throws ClientError naming the invalid line
 */
export function readMessage(text: string, original: WholeRequest): WholeRequest {
  const end = text.search(/\r?\n\r?\n/)
  const head = end === -1 ? text.trimEnd() : text.slice(0, end)
  const body = end === -1 ? '' : text.slice(end).replace(/^\r?\n\r?\n/, '')
  const [first = '', ...fields] = head.split(/\r?\n/)
  const [, method, target] = /^(\S+) (\/\S*)$/.exec(first) ?? []
  if (method === undefined || target === undefined) {
    throw new ClientError(`The first line must be like "POST /path?query": ${first}`)
  }
  const rawHeaders = fields.map((field) => {
    const [, name, value] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*)$/.exec(field) ?? []
    if (name === undefined || value === undefined) throw new ClientError(`This is not a header: ${field}`)
    return { name, value }
  })
  const [path = '', ...query] = target.split('?')
  return {
    ...original,
    method,
    path,
    queryString: query.length === 0 ? null : query.join('?'),
    rawHeaders,
    body: body === '' ? null : body,
  }
}
