import { z } from 'zod'
import { type Condition, HEADER_NAME, pathsOf } from '../engine/conditions/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { shownJson } from '../engine/json/index.ts'
import { ByHeaderName } from '../engine/message/index.ts'
import { findProvider, type ProviderRow } from '../engine/providers/index.ts'
import { DROP_HEADERS_MAX, parseStoreRules, type Storing, takesOut } from '../engine/storing/index.ts'

const document = z.record(z.string(), z.unknown())

/** Rules for storing, as input: rule documents, one document, or the steps of a single rule. */
export const StoreRulesInput = z
  .union([z.array(document), document.transform((rule) => [rule])])
  .describe(
    'Rules that take data out of a capture before it is stored: documents with `when` and steps `keep`, `remove`, `redact`, `hash` and `set`, or the steps of a single rule. [] clears',
  )

/** Rules for storing, as an endpoint shows them. */
export const StoreRules = z.array(document)

/** Names of headers that are not stored. */
export const DropHeaders = z
  .array(z.string().max(200).regex(HEADER_NAME, 'must be the name of a header'))
  .max(DROP_HEADERS_MAX)

/** Members of an endpoint that decide what is taken out of its captures. */
export interface StoringInput {
  readonly storeRules?: readonly unknown[] | null | undefined
  readonly dropHeaders?: readonly string[] | null | undefined
}

/** Bounds of the time for which an original is kept for deliveries, in hours. */
export const ORIGINAL_HOURS = { min: 1, max: 720, default: 72 } as const

/**
 * Refuses settings that contradict each other: an original is kept only if less is stored in plain, and hours are those of an
 * original.
 */
export function checkOriginal(
  settings: Readonly<Record<'takesOut' | 'encrypts' | 'forwardOriginal' | 'hasHours', boolean>>,
): InputIssue[] {
  const { takesOut, encrypts, forwardOriginal, hasHours } = settings
  const issues: InputIssue[] = []
  if (forwardOriginal && !takesOut && !encrypts) {
    const detail =
      'forwardOriginal needs storeRules, dropHeaders or encryptBodies: without them the whole request is stored in plain.'
    issues.push({ path: ['forwardOriginal'], code: 'not_allowed', detail })
  }
  if (hasHours && !forwardOriginal) {
    const detail = 'originalHours needs forwardOriginal: otherwise no original is kept.'
    issues.push({ path: ['originalHours'], code: 'not_allowed', detail })
  }
  return issues
}

/** Checks of {@link StoringInput} that its schema cannot express. */
export function checkStoring({ storeRules, dropHeaders }: StoringInput): InputIssue[] {
  const parsed = parseStoreRules(storeRules ?? [])
  const issues = 'issues' in parsed ? parsed.issues : []
  return [
    ...issues.map((issue) => ({ ...issue, path: ['storeRules', ...issue.path] })),
    ...(dropHeaders ?? []).flatMap((name, index): InputIssue[] => {
      if (!name.toLowerCase().startsWith('creel-')) return []
      const detail = `${JSON.stringify(name)} is a header of the service, which prevents loops.`
      return [{ path: ['dropHeaders', index], code: 'not_allowed', detail }]
    }),
  ]
}

/** Prepares checked members for captures; null if they take nothing out. */
export function preparedStoring(
  { storeRules, dropHeaders }: StoringInput,
  hash: Storing['hash'],
): Storing | null {
  const parsed = parseStoreRules(storeRules ?? [])
  if ('issues' in parsed) {
    throw new Error(`Stored rules are not valid: ${parsed.issues[0]?.detail ?? 'no reason given'}`)
  }
  const dropped = new ByHeaderName(
    (dropHeaders ?? []).map((name) => [name, `headers.${name.toLowerCase()}`] as const),
  )
  return parsed.rules.length === 0 && dropped.size === 0 ? null : { rules: parsed.rules, dropped, hash }
}

/** The members as a row has them, with numbers as they were spelled. */
export function storedStoring(row: Readonly<Record<'storeRules' | 'dropHeaders', string>>) {
  return {
    storeRules: StoreRules.parse(shownJson(row.storeRules)),
    dropHeaders: DropHeaders.parse(JSON.parse(row.dropHeaders)),
  }
}

/** Reads the members of a row for captures; null if the endpoint stores captures as they come. */
export function storingOf(
  row: { readonly storeRules: string; readonly dropHeaders: string },
  hash: Storing['hash'],
): Storing | null {
  if (row.storeRules === '[]' && row.dropHeaders === '[]') return null
  return preparedStoring(storedStoring(row), hash)
}

/** Parts that an endpoint takes out of its captures. */
export interface TakenOut {
  readonly storing: Storing
  /** Decides where the label is read. */
  readonly provider: ProviderRow | undefined
}

/** Reads what settings take out; null if that is nothing. */
export function takenOutOf(
  { provider }: { readonly provider: string | null },
  input: StoringInput,
): TakenOut | null {
  const storing = preparedStoring(input, null)
  return storing && { storing, provider: provider === null ? undefined : findProvider(provider) }
}

/**
 * Names what a condition reads that is taken out.
 *
 * @param whose the owner of the condition, as the sentences name it
 */
export function conditionWarnings(
  { storing, provider }: TakenOut,
  whose: string,
  condition: Condition,
): string[] {
  return pathsOf(condition, { absent: true })
    .filter((path) => takesOut(storing, path, provider))
    .map(
      ({ text }) =>
        `The condition of the ${whose} reads ${text}, which is not stored as it came. It is evaluated before.`,
    )
}
