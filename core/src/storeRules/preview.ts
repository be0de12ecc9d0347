import type { z } from 'zod'
import { listActions } from '../actions/index.ts'
import type { Context } from '../api/context.ts'
import { storedFormOf } from '../capture/index.ts'
import { storedPolicy } from '../deliveries/index.ts'
import {
  type EndpointRow,
  preparedStoring,
  type StoringInput,
  storedDedupe,
  storedSettings,
} from '../endpoints/index.ts'
import { pathsOf, storedCondition } from '../engine/conditions/index.ts'
import { type EvaluatedRequest, joinedHeaders, textOf } from '../engine/message/index.ts'
import { findProvider } from '../engine/providers/index.ts'
import { hashWith, type Storing, takesOut, takesOutText } from '../engine/storing/index.ts'
import {
  eventIdOf,
  eventIdPathOf,
  eventIdReads,
  labelOf,
  prepareVerification,
} from '../engine/verification/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { countLong, previewing } from '../requests/index.ts'
import { createRuleTurns, previewRequest } from '../transformations/index.ts'
import { findHashKey } from '../workspaces/index.ts'
import type { previewInput, StoringPreview } from './schema.ts'

type EventIds = Pick<EndpointRow, 'eventIdPath' | 'provider' | 'dedupe'>

/**
 * Names what reads a value that rules for storing take out: conditions and orders of actions, the event id. They work
 * on the request as it came, so a capture is handled as before. Later readers, like a replay, see what is stored.
 */
export async function storingWarnings(
  db: Db | Trx,
  endpoint: EventIds & { readonly id: string },
  input: StoringInput,
): Promise<string[]> {
  const storing = preparedStoring(input, null)
  if (storing === null) return []
  const actions = await listActions(db, endpoint.id)
  return [
    ...eventIdWarnings(storing, endpoint),
    ...actions.flatMap(({ name, condition, deliveryPolicy }) => [
      ...pathsOf(storedCondition(condition))
        .filter((path) => takesOut(storing, path))
        .map(
          ({ text }) =>
            `The condition of the action '${name}' reads ${text}, which is not stored as it came. It is evaluated before.`,
        ),
      ...orderWarnings(storing, name, storedPolicy(deliveryPolicy).order?.by),
    ]),
  ]
}

function orderWarnings(storing: Storing, name: string, by: string | undefined): string[] {
  if (by === undefined || !takesOutText(storing, by)) return []
  return [
    `The action '${name}' orders by ${by}, which is not stored as it came: its keys are shown as digests.`,
  ]
}

function eventIdWarnings(storing: Storing, { eventIdPath, provider, dedupe }: EventIds): string[] {
  const by = storedDedupe(dedupe)?.by
  const row = provider === null ? undefined : (findProvider(provider) ?? undefined)
  return [
    ...eventIdReads(eventIdPathOf(eventIdPath), row)
      .filter((text) => takesOutText(storing, text))
      .map(
        (text) =>
          `The event id is read from ${text}, which is not stored as it came: its digest is shown instead.`,
      ),
    ...(by !== undefined && takesOutText(storing, by)
      ? [`\`dedupe\` compares ${by}, which is not stored as it came. It is compared before.`]
      : []),
  ]
}

/** Separate from the queue of deliveries, so that previews never delay those. */
const turns = createRuleTurns()

/** The settings that are tried: those of the input, else those of the endpoint. */
export function triedSettings(endpoint: EndpointRow, input: StoringInput): StoringInput {
  return {
    storeRules: input.storeRules ?? JSON.parse(endpoint.storeRules),
    dropHeaders: input.dropHeaders ?? JSON.parse(endpoint.dropHeaders),
  }
}

/**
 * Shows what would be stored of a request. Nothing is saved.
 *
 * @throws DomainError `not_found` for a request that is not stored; LineTooLong when earlier previews take too long
 */
export async function previewStoring(
  ctx: Context,
  endpoint: EndpointRow,
  input: z.output<typeof previewInput>,
): Promise<z.input<typeof StoringPreview>> {
  const tried = triedSettings(endpoint, input)
  const warnings = await storingWarnings(ctx.db, endpoint, tried)
  // Without a key, a key of the preview: the digests then differ from those of captures.
  const key = await findHashKey(ctx.db, { workspaceId: ctx.workspace.id, secrets: ctx.secrets })
  const settings = {
    storing: preparedStoring(tried, hashWith(key ?? Buffer.from(ctx.workspace.id))),
    verification: prepareVerification(storedSettings(endpoint, ctx.secrets)),
    eventIdPath: eventIdPathOf(endpoint.eventIdPath),
    repeating: { label: true, eventId: true },
  }
  return await previewing(ctx, 'storing', async () => {
    const { request } = await previewRequest(ctx, input, endpoint, null, { takesTraces: true })
    countLong(ctx, request.body.length)
    const { provider } = settings.verification
    const evaluated: EvaluatedRequest = {
      ...request,
      label: labelOf(provider, request),
      eventId: eventIdOf(settings.eventIdPath, provider, request),
    }
    const form = await turns.run(ctx.workspace.id, () => storedFormOf(settings, evaluated))
    const redaction = form?.redaction ?? null
    return {
      redacted: redaction !== null,
      redactedPaths: [...(redaction?.paths ?? [])],
      redactionFault: redaction?.fault ?? null,
      warnings,
      stored: shown(form?.request ?? evaluated),
    }
  })
}

function shown(request: EvaluatedRequest): z.input<typeof StoringPreview>['stored'] {
  const { method, path, queryString, headers, contentType, body, ip, label, eventId } = request
  const text = textOf(body)
  return {
    method,
    path,
    queryString,
    headers: joinedHeaders(headers),
    contentType,
    body: body.length === 0 ? null : (text ?? Buffer.from(body).toString('base64')),
    bodyIsBinary: body.length > 0 && text === undefined,
    ip,
    label,
    eventId,
  }
}
