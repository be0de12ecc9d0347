import type { Node } from '../json/index.ts'
import {
  asRead,
  type EvaluatedRequest,
  headerValues,
  parsedBody,
  textOf,
  urlEncodedPairs,
} from '../message/index.ts'
import type { DeliveryFact, RequestFact } from './paths.ts'

/** The source that paths read: a request as captured, or as earlier rules left it. */
export interface ReadRoot {
  /** Undefined when the request has no such fact. */
  fact(fact: RequestFact | DeliveryFact): string | number | undefined
  /** Every value in wire order; names compare without case. */
  headerValues(name: string): readonly string[]
  /** Every value in wire order, decoded. */
  queryValues(name: string): readonly string[]
  /** The whole body as text; undefined when it is empty, binary or an oversize trace. */
  bodyText(): string | undefined
  /** The body as a document; undefined when it is neither JSON nor a form. The values of a form are text sources. */
  bodyDocument(): { readonly value: Node; readonly isForm: boolean } | undefined
}

/** The facts of a delivery, for messages and rule steps. */
export type DeliveryFacts = Readonly<Record<DeliveryFact, string | number>>

/**
 * A captured request as paths see it. Everything is looked up when a path asks for it; the body parses at most once.
 */
export function requestRoot(request: EvaluatedRequest, delivery?: DeliveryFacts): ReadRoot {
  const queryValues = queryReader(request.queryString)
  let text: { readonly value: string | undefined } | undefined
  let body: { readonly value: ReturnType<ReadRoot['bodyDocument']> } | undefined
  const read = () => asRead(request)
  return {
    fact: (fact) => factOf(request, delivery, fact),
    headerValues: (name) => headerValues(request.headers, name),
    queryValues,
    bodyText: () => {
      text ??= { value: request.bodyTruncated ? undefined : textOf(read().body) }
      return text.value
    },
    bodyDocument: () => {
      body ??= { value: documentOf(read()) }
      return body.value
    },
  }
}

const NO_VALUES: readonly string[] = []

/** Reads the values of a query by name. It is decoded once, when the first is asked for: queries can be long. */
export function queryReader(query: string | null): ReadRoot['queryValues'] {
  let values: Map<string, string[]> | undefined
  return (name) => {
    values ??= valuesByName(query ?? '')
    return values.get(name) ?? NO_VALUES
  }
}

function valuesByName(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of urlEncodedPairs(query)) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

function documentOf(request: EvaluatedRequest): ReturnType<ReadRoot['bodyDocument']> {
  const body = parsedBody(request)
  return body.kind === 'none' ? undefined : { value: body.value, isForm: body.kind === 'form' }
}

function factOf(
  request: EvaluatedRequest,
  delivery: DeliveryFacts | undefined,
  fact: RequestFact | DeliveryFact,
): string | number | undefined {
  switch (fact) {
    case 'method':
    case 'path':
    case 'sizeBytes':
      return request[fact]
    case 'label':
    case 'contentType':
    case 'ip':
      return request[fact] ?? undefined
    case 'verification.verdict':
      return request.verification?.verdict
    default:
      return delivery?.[fact]
  }
}
