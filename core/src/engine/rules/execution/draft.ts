import {
  type DeliveryFacts,
  type Path,
  queryReader,
  type ReadRoot,
  requestRoot,
} from '../../conditions/index.ts'
import {
  holdsTooMuch,
  isLossless,
  type LazyJson,
  MAX_JSON_DEPTH,
  opened,
  parseLazily,
  plainOf,
  writeJson,
} from '../../json/index.ts'
import {
  asRead,
  bodyStructure,
  contentTypeIn,
  type EvaluatedRequest,
  headerText,
  headerValues,
  keepJson,
  takeJson,
  textOf,
  type WireHeader,
  withoutEncoding,
} from '../../message/index.ts'
import { Fault } from '../language/fault.ts'
import { RUN_LIMITS } from '../language/limits.ts'
import type { WholePart } from '../language/targets.ts'
import { type OriginalForm, originalForm, parseForm, writeForm } from './form.ts'
import { type ChangeOfQuery, changedQuery, memberCountOf, namesIn } from './hidden.ts'
import type { Meter } from './meter.ts'
import { placedValue, placeOf } from './nodes.ts'

type Document =
  | { readonly kind: 'json'; root: LazyJson; readonly original: string }
  | { readonly kind: 'form'; root: LazyJson; readonly original: OriginalForm }
  | { readonly kind: 'empty' | 'unstructured' | 'tooLong' }

/** A request while rules change it. Paths always read the latest values. */
export class Draft implements ReadRoot {
  private headerLines: readonly WireHeader[]
  private capturedRoot: ReadRoot | undefined
  /** The request with its body decoded. */
  private readonly asRead: EvaluatedRequest
  private document: Document | undefined
  /** How often steps have changed the body. */
  changes = 0
  private text: string | undefined
  /** Text that replaced the whole body. */
  private wholeBody: string | undefined
  private queryText: string | null
  /** Reads {@link queryText}. */
  private query: ReadRoot['queryValues']
  private pathText: string
  private ipText: string | null
  /** Names, in lower case, of the headers that a step wrote. */
  readonly writtenHeaders = new Set<string>()

  /** @param isForStoring whether the request was just read, so that its body is parsed, and the result will be */
  constructor(
    private readonly request: EvaluatedRequest,
    private readonly facts: DeliveryFacts,
    private readonly meter: Meter,
    private readonly isForStoring: boolean,
  ) {
    this.headerLines = request.headers
    this.asRead = asRead(request)
    this.queryText = request.queryString
    this.query = queryReader(request.queryString)
    this.pathText = request.path
    this.ipText = request.ip
  }

  private get captured(): ReadRoot {
    this.capturedRoot ??= requestRoot(this.request, this.facts)
    return this.capturedRoot
  }

  /** Whether the body is JSON or a form, so that paths lead into it. */
  get isStructured(): boolean {
    const { kind } = this.read()
    return kind === 'json' || kind === 'form'
  }

  get isForm(): boolean {
    return this.read().kind === 'form'
  }

  get isEmpty(): boolean {
    return this.read().kind === 'empty'
  }

  /** Whether the value of a path is unknown: it leads into a body that cannot be read, or the label may come from one. */
  isUnknown(path: Path): boolean {
    if (this.request.body.length === 0) return false
    if (path.root === 'fact')
      return (
        path.fact === 'label' && this.request.label === null && this.captured.bodyDocument() === undefined
      )
    if (path.root !== 'body' || this.isEmpty) return false
    return path.segments.length === 0 ? this.bodyText() === undefined : !this.isStructured
  }

  /**
   * The body as a tree that steps may change.
   *
   * @throws Fault `not_structured` when it is neither JSON nor a form, `too_large` over 10 MiB
   */
  root(): LazyJson {
    const document = this.readable()
    if ('root' in document) return document.root
    const what = document.kind === 'empty' ? 'empty' : 'neither JSON nor a form'
    throw new Fault('not_structured', `The body is ${what}: a path cannot lead into it.`)
  }

  replaceRoot(root: LazyJson): void {
    const document = this.read()
    if ('root' in document) document.root = root
  }

  private get isTouched(): boolean {
    return this.changes > 0
  }

  /** Marks the body as changed. */
  touch(): void {
    this.changes += 1
    this.text = undefined
  }

  /**
   * For steps that remove data and found nothing to change. If an object has a name twice, only the last one is read,
   * and the original body would still contain the others.
   *
   * @returns whether there is such a name; then the body is rewritten
   */
  dropHidden(): boolean {
    const document = this.read()
    if (this.isTouched || document.kind !== 'json') return false
    if (namesIn(document.original) === memberCountOf(document.root)) return false
    this.touch()
    return true
  }

  fact(fact: Parameters<ReadRoot['fact']>[0]): string | number | undefined {
    if (fact === 'contentType') return this.headerValues('content-type')[0]
    if (fact === 'path') return this.pathText
    if (fact === 'ip') return this.ipText ?? undefined
    return this.captured.fact(fact)
  }

  headerValues(name: string): readonly string[] {
    return headerValues(this.headerLines, name)
  }

  queryValues(name: string): readonly string[] {
    this.meter.checkTime()
    return this.query(name)
  }

  bodyText(): string | undefined {
    if (!this.isTouched) return this.captured.bodyText()
    this.text ??= this.bodyAsText()
    return this.text
  }

  bodyDocument(): { value: LazyJson; isForm: boolean } | undefined {
    // Conditions and templates call this for each of their paths.
    this.meter.checkTime()
    const document = this.readable()
    return 'root' in document ? { value: document.root, isForm: document.kind === 'form' } : undefined
  }

  /**
   * The value at a path without `[*]`; null when it is missing.
   *
   * @throws Fault `type` where `.*` leads into a list
   */
  valueAt(path: Path): LazyJson {
    switch (path.root) {
      case 'headers': {
        const values = this.headerValues(path.name)
        return values.length === 0 ? null : values.join(', ')
      }
      case 'query':
        return this.queryValues(path.name)[0] ?? null
      case 'fact':
        return this.fact(path.fact) ?? null
      case 'body': {
        if (path.segments.length === 0) return this.bodyText() ?? null
        const document = this.readable()
        const place = 'root' in document ? placeOf(document.root, path.segments, this.meter) : undefined
        return place === undefined ? null : placedValue(place)
      }
    }
  }

  /** The lines of a header joined as one, bytes unchanged; undefined when there is none. */
  headerBytes(name: string): string | undefined {
    const lower = name.toLowerCase()
    const lines = this.headerLines.filter(([known]) => known.toLowerCase() === lower)
    return lines.length === 0 ? undefined : lines.map(([, value]) => value).join(', ')
  }

  /**
   * Replaces all headers of a name with one; a new name is appended.
   *
   * @returns whether anything changed
   * @throws Fault `bad_header` for a value that no header can hold
   */
  setHeader(name: string, value: string): boolean {
    checkHeader(name, value)
    const lower = name.toLowerCase()
    const before = this.headerLines.filter(([known]) => known.toLowerCase() === lower)
    this.writtenHeaders.add(lower)
    if (before.length === 1 && before[0]?.[1] === value) return false
    const first = before[0]
    this.headerLines =
      first === undefined
        ? [...this.headerLines, [name, value]]
        : this.headerLines.flatMap((line): WireHeader[] => {
            if (line === first) return [[line[0], value]]
            return line[0].toLowerCase() === lower ? [] : [line]
          })
    return true
  }

  /**
   * Replaces values of headers; each line stays where it is. Returns whether anything changed.
   *
   * @param replacement undefined for a line that is not replaced
   */
  replaceHeaders(replacement: (name: string, value: string) => string | undefined): boolean {
    let changed = false
    this.headerLines = this.headerLines.map((line) => {
      const [name, before] = line
      const value = replacement(name, headerText(before))
      if (value === undefined) return line
      checkHeader(name, value)
      if (value !== before) changed = true
      return [name, value]
    })
    return changed
  }

  /** Changes the query, parameter by parameter. Returns whether anything changed. */
  changeQuery(change: ChangeOfQuery): boolean {
    const before = this.queryText
    if (before === null) return false
    const changed = changedQuery(before, (name, value) => {
      this.meter.tick()
      return change(name, value)
    })
    if (changed === before) return false
    this.queryText = changed
    this.query = queryReader(changed)
    return true
  }

  get queryString(): string | null {
    return this.queryText
  }

  get path(): string {
    return this.pathText
  }

  get ip(): string | null {
    return this.ipText
  }

  hasPart(part: WholePart): boolean {
    if (part === 'body') return !this.isEmpty
    return part === 'path' ? this.pathText !== '' : this.ipText !== null
  }

  /** Replaces a whole part by another text; `''` removes it. Returns whether anything changed. */
  changePart(part: WholePart, replacement: (value: string) => string, found: string[] | null): boolean {
    if (!this.hasPart(part)) return false
    found?.push(part)
    if (part === 'body') {
      const text = this.bodyText()
      this.wholeBody = replacement(text ?? Buffer.from(this.asRead.body).toString('latin1'))
      this.document = { kind: this.wholeBody === '' ? 'empty' : 'unstructured' }
      this.touch()
    } else if (part === 'path') {
      const text = replacement(this.pathText)
      this.pathText = text === '' ? '' : `/${encodeURIComponent(text.toWellFormed())}`
    } else this.ipText = replacement(this.ipText ?? '') || null
    return true
  }

  /** Removes the lines that do not pass; returns whether there were any. */
  keepHeaders(passes: (name: string) => boolean): boolean {
    const before = this.headerLines.length
    this.headerLines = this.headerLines.filter(([name]) => passes(name))
    return this.headerLines.length !== before
  }

  /** The headers to send. A body that a step touched goes out decoded. */
  get headers(): readonly WireHeader[] {
    const isDecoded = this.isTouched && this.asRead !== this.request
    return isDecoded ? withoutEncoding(this.headerLines) : this.headerLines
  }

  get contentType(): string | null {
    const type = contentTypeIn(this.headerLines)
    return type === undefined ? null : headerText(type)
  }

  /**
   * The bytes to send: the original ones, as they are encoded, unless a step touched the body.
   *
   * @throws Fault `too_large` over 10 MiB, `type` for a form that holds more than texts
   */
  bytes(): Uint8Array {
    if (!this.isTouched) return this.request.body
    const document = this.read()
    const plain = this.isForStoring && document.kind === 'json' ? plainOf(document.root) : undefined
    const bytes = Buffer.from(plain === undefined ? this.bodyAsText() : JSON.stringify(plain))
    if (plain !== undefined) keepJson(bytes, plain)
    if (bytes.length > RUN_LIMITS.outputBytes) {
      throw new Fault('too_large', `The body would be over ${RUN_LIMITS.outputBytes} bytes.`)
    }
    return bytes
  }

  private bodyAsText(): string {
    const document = this.read()
    if (!('root' in document)) return this.wholeBody ?? this.captured.bodyText() ?? ''
    if (document.kind === 'json') return writeJson(document.root)
    return document.root instanceof Map ? writeForm(document.root, document.original) : ''
  }

  /** @throws Fault `too_large`: what no rule may write takes too long to read, too */
  private readable(): Document {
    const document = this.read()
    if (document.kind !== 'tooLong') return document
    throw new Fault(
      'too_large',
      `The body is over ${RUN_LIMITS.outputBytes} bytes: no path can lead into it.`,
    )
  }

  private read(): Document {
    this.document ??= this.meter.reading(() => readDocument(this.asRead, this.isForStoring))
    return this.document
  }
}

/** A field value by RFC 9110: tab, visible ASCII and the upper half of latin1. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

function checkHeader(name: string, value: string): void {
  if (HEADER_VALUE.test(value)) return
  throw new Fault('bad_header', `The value for ${name} holds a control character, or one above U+00FF.`)
}

/** The body, of the kind that `bodyStructure` decides, up to the payload cap; digits and order kept. */
function readDocument(request: EvaluatedRequest, isForStoring: boolean): Document {
  if (request.body.length === 0) return { kind: 'empty' }
  const isLong = request.body.length > RUN_LIMITS.outputBytes
  if (isLong && bodyStructure(request, () => true).kind !== 'none') return { kind: 'tooLong' }
  const structure = bodyStructure(request, (body) => {
    const taken = isForStoring ? takeJson(request) : undefined
    if (taken !== undefined && isLossless(taken.value, taken.text, MAX_JSON_DEPTH))
      return { root: opened(taken.value), original: taken.text }
    const original = textOf(body)
    if (original === undefined) return undefined
    if (holdsTooMuch(original)) return 'tooLong'
    const read = parseLazily(original.startsWith('\ufeff') ? original.slice(1) : original)
    return read === undefined ? undefined : { root: opened(read.value), original }
  })
  if (structure.kind === 'json')
    return structure.json === 'tooLong' ? { kind: 'tooLong' } : { kind: 'json', ...structure.json }
  const original = structure.kind === 'form' ? textOf(request.body) : undefined
  if (original === undefined) return { kind: 'unstructured' }
  const root = parseForm(original)
  return { kind: 'form', root, original: originalForm(original, root) }
}
