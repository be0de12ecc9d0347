import type { Selectable } from 'kysely'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import type { InputIssue } from '../engine/issues.ts'
import { secretProblem } from '../engine/signing/index.ts'
import type { ActionsTable } from '../platform/db/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import type { Sealing } from './declarations.ts'
import type { CreateInput } from './schema.ts'

/** Hours after a rotation for which the previous secret signs too. */
const DUAL_SECRET_HOURS = 24

/** Signing settings of an action. An absent member does not change. */
type SigningInput = CreateInput['signing']

type SigningColumns = Pick<
  Selectable<ActionsTable>,
  'signingSecret' | 'signingSecretSetAt' | 'previousSigningSecret' | 'previousSigningSecretUntil'
>

/**
 * The columns that a written `signingSecret` changes: undefined changes nothing, '' stops signing, a value sets or
 * rotates it. After two rotations within 24 h only the latest of the old secrets signs. A secret that was removed and
 * set again has no old one.
 */
export function signingColumns(
  secret: string | undefined,
  stored: Pick<Selectable<ActionsTable>, 'signingSecret'> | undefined,
  { secrets, workspaceId, now }: Sealing,
): Partial<SigningColumns> {
  if (secret === undefined) return {}
  if (secret === '') {
    return {
      signingSecret: null,
      signingSecretSetAt: null,
      previousSigningSecret: null,
      previousSigningSecretUntil: null,
    }
  }
  const columns = { signingSecret: secrets.seal(secret, workspaceId), signingSecretSetAt: now }
  const sealed = stored?.signingSecret ?? null
  const previous = sealed === null ? null : secrets.open(sealed, workspaceId)
  // Setting the same secret again is no rotation: the previous one does not change.
  if (previous === secret) return columns
  return {
    ...columns,
    // Sealed again: a change of the installation's keys may have passed the row since it was read.
    previousSigningSecret: previous === null ? null : secrets.seal(previous, workspaceId),
    previousSigningSecretUntil:
      previous === null ? null : new Date(now.getTime() + DUAL_SECRET_HOURS * HOUR_MS),
  }
}

/**
 * The columns that a written scheme changes. Earlier attempts were signed by another scheme, so the time of the
 * secret's setting changes with it.
 *
 * @param stored undefined for a new action
 */
export function schemeColumns(
  signing: SigningInput,
  stored: Pick<Selectable<ActionsTable>, 'signingScheme' | 'signingSecret'> | undefined,
  now: Date,
): Partial<Pick<Selectable<ActionsTable>, 'signingScheme' | 'signingSecretSetAt'>> {
  const scheme = signing?.scheme
  if (scheme === undefined || scheme === stored?.signingScheme) return {}
  const hasSigned = stored !== undefined && stored.signingSecret !== null
  return { signingScheme: scheme, ...(hasSigned && { signingSecretSetAt: now }) }
}

/** Checks that the secret which will sign fits the scheme: the given one, else the stored one. */
export function signingIssues(
  { secrets, workspace }: Pick<Context, 'secrets' | 'workspace'>,
  input: { readonly signing?: Accepted<SigningInput>; readonly signingSecret?: string | undefined },
  stored: Pick<Selectable<ActionsTable>, 'signingScheme' | 'signingSecret'> | undefined,
): InputIssue[] {
  const before = stored?.signingScheme ?? 'creel'
  const scheme = input.signing?.scheme ?? before
  const { signingSecret: given } = input
  if (given === '') return []
  if (given !== undefined) {
    const detail = secretProblem(scheme, given)
    return detail === null ? [] : [{ path: ['signingSecret'], code: 'bad_format', detail }]
  }
  const sealed = stored?.signingSecret ?? null
  if (sealed === null || scheme === before) return []
  const problem = secretProblem(scheme, secrets.open(sealed, workspace.id))
  if (problem === null) return []
  const detail = `The stored signing secret does not fit this scheme. Give signingSecret as well. ${problem}`
  return [{ path: ['signing', 'scheme'], code: 'not_allowed', detail }]
}
