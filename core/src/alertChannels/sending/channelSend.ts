import type { Alert } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import type { WireHeader } from '../../engine/message/index.ts'
import { storable } from '../../platform/db/index.ts'
import { userAgent } from '../../platform/outbound/index.ts'
import { type Channel, destinationOf } from '../channel.ts'
import { maskSecret } from '../check.ts'
import { channelKind, type Reading } from '../kinds/index.ts'
import { cut } from '../kinds/text.ts'

/** Timeout from connecting to the end of the answer. */
const TIMEOUT_MS = 10_000
/** Bytes of an answer that are read; no provider needs more. */
const RESPONSE_BYTES_MAX = 65_536
const DETAIL_MAX = 300

/** The answer of a receiver or a mail server, as histories show it. */
export const shownDetail = (text: string): string => storable(cut(text, DETAIL_MAX))

/** Result of a send to a channel, with the request and the response, secrets masked. */
export interface ChannelSend extends Reading {
  /** A stable code, as in an attempt's `error`: `http_404`, `timeout`, `dns`…; null when it was delivered. */
  readonly error: string | null
  readonly statusCode: number | null
  readonly durationMs: number
  readonly sent: {
    readonly method: string
    /** The channel's destination, because the address itself may be a credential. */
    readonly url: string
    readonly headers: readonly WireHeader[]
    readonly body: string
  }
  readonly received: {
    readonly statusCode: number
    readonly headers: readonly WireHeader[]
    readonly body: string
    readonly bodyTruncated: boolean
  } | null
}

export type SendServices = Pick<Services, 'outbound' | 'clock' | 'alertApiUrls' | 'version'>

/** Sends one alert to one channel, once. A failed send is a result, never an exception. */
export async function sendToChannel(
  { outbound, clock, alertApiUrls, version }: SendServices,
  channel: Channel,
  alert: Alert,
  signal?: AbortSignal,
): Promise<ChannelSend> {
  const kind = channelKind(channel.kind)
  const { method, url, headers, body } = kind.build(alert, channel, {
    now: clock.now(),
    apiUrls: alertApiUrls,
  })
  const mask = (text: string) => maskSecret(text, channel.secret)
  const detailOf = (text: string) => shownDetail(mask(text))
  const maskAll = (fields: readonly WireHeader[]): WireHeader[] =>
    fields.map(([name, value]) => [name, mask(value)])
  const result = await outbound.send({
    method,
    url,
    headers: [userAgent(version), ...Object.entries(headers)],
    body: Buffer.from(body),
    totalTimeoutMs: TIMEOUT_MS,
    maxResponseBytes: RESPONSE_BYTES_MAX,
    signal,
  })
  const common = {
    durationMs: result.durationMs,
    sent: {
      method,
      url: destinationOf(channel) ?? '',
      headers: maskAll(result.sentHeaders),
      body: mask(body),
    },
  }
  if (result.outcome !== 'response') {
    return {
      ...common,
      delivered: false,
      // A forbidden address stays forbidden until a setting changes.
      permanent: ['blocked_address', 'loop', 'unsendable'].includes(result.outcome),
      detail: detailOf(`${result.outcome}: ${result.detail}`),
      error: result.outcome,
      statusCode: null,
      received: null,
    }
  }
  const { statusCode } = result
  const text = new TextDecoder().decode(result.body)
  const reading = kind.read({ statusCode, body: text })
  return {
    ...common,
    ...reading,
    detail: reading.detail === null ? null : detailOf(reading.detail),
    error: reading.delivered ? null : `http_${statusCode}`,
    statusCode,
    received: {
      statusCode,
      headers: maskAll(result.headers),
      body: mask(text),
      bodyTruncated: result.bodyTruncated,
    },
  }
}
