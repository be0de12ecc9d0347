import { isJsonNumber, numberText } from '../json/index.ts'
import {
  type CapturedRequest,
  formBody,
  isLabelledForm,
  isLabelledMultipart,
  isNamed,
  isUnlabelled,
  jsonBody,
  multipartFields,
  PARSED_BODY_BYTES_MAX,
  urlEncodedPairs,
} from '../message/index.ts'
import { nodeAt, nodesAt } from '../providers/index.ts'
import { byteTextOf, trimBlanks } from './byteText.ts'

/**
 * The input of a check: the request and its public URL. Everything is read on first use and kept. All texts are byte
 * text (`byteText.ts`).
 */
export class Evidence {
  #query: readonly (readonly [string, string])[] | undefined
  #fields: readonly (readonly [string, string])[] | undefined
  readonly #fieldBodies = new Map<string, Uint8Array>()

  /** @param url the public URL that the sender called, with suffix and query as received */
  constructor(
    readonly request: CapturedRequest,
    readonly url: string,
    /** The element that `[0]` of this list means in paths, if its elements are signed separately. */
    private readonly item?: { readonly list: string; readonly index: number },
  ) {}

  get body(): Uint8Array {
    return this.request.body
  }

  /** False for a body that is too long to be read as JSON or as a form. */
  get isParsable(): boolean {
    return this.body.length <= PARSED_BODY_BYTES_MAX
  }

  /** The same request as it would be with another body or under another URL. */
  with(changes: { readonly body?: Uint8Array; readonly url?: string }): Evidence {
    const body = changes.body ?? this.body
    return new Evidence({ ...this.request, body }, changes.url ?? this.url, this.item)
  }

  /** Length of a list in the JSON body; 0 if it is not a list. */
  itemCount(list: string): number {
    const value = nodeAt(this.json(), list)
    return Array.isArray(value) ? value.length : 0
  }

  /** The same request, for one element of a list: paths that name its `[0]` lead into that element. */
  ofItem(list: string, index: number): Evidence {
    return new Evidence(this.request, this.url, { list, index })
  }

  /** Replaces `[0]` of the list, in a path or in words, by the index of the present element. */
  inItem(text: string): string {
    return this.item === undefined
      ? text
      : text.replace(`${this.item.list}[0]`, `${this.item.list}[${this.item.index}]`)
  }

  /** Every value of a header in wire order, names compared without case, blanks around values dropped. */
  headers(name: string): string[] {
    const values: string[] = []
    for (const [field, value] of this.request.headers) {
      if (isNamed(field, name)) values.push(trimBlanks(value))
    }
    return values
  }

  header(name: string): string | undefined {
    const field = this.request.headers.find(([field]) => isNamed(field, name))
    return field === undefined ? undefined : trimBlanks(field[1])
  }

  /** The headers whose names are `prefix` and a number, with their values. */
  numberedHeaders(prefix: string): (readonly [name: string, value: string])[] {
    const start = prefix.toLowerCase()
    return this.request.headers
      .filter(([name]) => name.toLowerCase().startsWith(start) && /^\d+$/.test(name.slice(prefix.length)))
      .map(([name, value]) => [name, trimBlanks(value)])
  }

  query(name: string): string | undefined {
    this.#query ??= urlEncodedPairs(this.request.queryString ?? '')
    const pair = this.#query.find(([known]) => known === name)
    return pair === undefined ? undefined : byteTextOf(pair[1])
  }

  /** The body read as JSON; undefined when it is not JSON. */
  json(): unknown {
    return jsonBody(this.request).value
  }

  /** The texts at a path in the JSON body; undefined for a missing one. */
  jsonTexts(path: string): (string | undefined)[] {
    return nodesAt(this.json(), this.inItem(path)).map(scalarText)
  }

  /**
   * The fields of a form body, URL-encoded or multipart, in wire order and decoded to Unicode; empty for other bodies.
   */
  fields(): readonly (readonly [string, string])[] {
    this.#fields ??= this.#readFields()
    return this.#fields
  }

  #readFields(): readonly (readonly [string, string])[] {
    if (!this.isParsable) return []
    // A signature over fields covers a body that the sender labels as a form, whatever its bytes are.
    if (isLabelledMultipart(this.request)) return multipartFields(this.request.contentType ?? '', this.body)
    if (!isUnlabelled(this.request) && !isLabelledForm(this.request)) return []
    const { kind, value } = formBody(this.request)
    if (kind !== 'form') return []
    return Object.entries(value).flatMap(([name, held]) =>
      typeof held === 'string' ? [[name, held] as const] : held.map((item) => [name, item] as const),
    )
  }

  field(name: string): string | undefined {
    const found = this.fields().find(([known]) => known === name)
    return found === undefined ? undefined : byteTextOf(found[1])
  }

  /** A text in the JSON of a form field. */
  fieldJsonText(name: string, path: string): string | undefined {
    const text = this.fields().find(([known]) => known === name)?.[1]
    if (text === undefined) return undefined
    // The same buffer each time, so that it is parsed once.
    const body = this.#fieldBodies.get(name) ?? Buffer.from(text)
    this.#fieldBodies.set(name, body)
    return scalarText(nodeAt(jsonBody({ body, bodyTruncated: false, contentType: null }).value, path))
  }
}

/** A JSON value as the text that providers sign; undefined if it is missing, null or not a scalar. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return byteTextOf(value)
  if (isJsonNumber(value)) return numberText(value)
  return typeof value === 'boolean' ? String(value) : undefined
}
