import type { Command } from 'commander'
import { EXIT } from './exitCodes.ts'

/** A wrong part of an input. */
export interface WrongPart {
  /** From the root of the input, like `['delivery', 'retry', 'delays', '0']`. */
  readonly path: readonly string[]
  /** One sentence, which may begin with the name of the part. */
  readonly detail: string
}

/** A failed command. The message says what is wrong, `nextStep` what to do about it. */
export class ClientError extends Error {
  override readonly name = 'ClientError'

  /**
   * @param message one sentence
   * @param nextStep one or more lines; none if the message suffices
   * @param exitCode 1 unless the command line itself is wrong
   * @param parts of a refused input, of which the message names the first
   */
  constructor(
    message: string,
    readonly nextStep: readonly string[] = [],
    readonly exitCode: number = EXIT.failed,
    readonly parts: readonly WrongPart[] = [],
  ) {
    super(message)
  }
}

/** Error for an invalid value on the command line. Nothing was done. */
export function usageError(message: string, ...nextStep: string[]): ClientError {
  return new ClientError(message, nextStep, EXIT.usage)
}

/** Error for an option whose text has not the form that it needs. */
export const cannotRead = (option: string, text: string, nextStep: string): ClientError =>
  usageError(`${option} cannot read "${text}".`, nextStep)

/**
 * Lines for stderr about a failed command; undefined for any other error.
 *
 * @param command the command that ran: members of the API are called by its options
 */
export function clientFailure(
  error: unknown,
  command?: Command,
): { lines: readonly string[]; exitCode: number } | undefined {
  if (!(error instanceof ClientError)) return undefined
  const { exitCode, message, nextStep, parts } = error
  const sentences = parts.map((part) => command && sentenceOf(command, part))
  const [first] = sentences
  const [count] = message.split(' first: ')
  const said = first === undefined ? message : parts.length === 1 ? first : `${count} first: ${first}`
  const listed = parts.map(({ path, detail }, at) => `  ${sentences[at] ?? `#/${path.join('/')} ${detail}`}`)
  return { lines: [`creel: ${said}`, ...nextStep, ...(parts.length > 1 ? listed : [])], exitCode }
}

const optionsOfMembers = new WeakMap<Command, Readonly<Record<string, string>>>()

/**
 * Declares which options of a command give members of the API with another name.
 *
 * @param members options by the path of their member, like `{ expiresInSeconds: '--for' }`
 */
export function givesMembers(command: Command, members: Readonly<Record<string, string>>): Command {
  optionsOfMembers.set(command, { ...optionsOfMembers.get(command), ...members })
  return command
}

/** Options that choose the service, or name members themselves. */
const OTHER_OPTIONS = ['url', 'key', 'json']

/** Sentence about the option that gave a part; undefined if no option did. */
function sentenceOf(command: Command, { path, detail }: WrongPart): string | undefined {
  const { set = [], file } = command.opts<{ readonly set?: readonly string[]; readonly file?: string }>()
  if (file !== undefined || set.some((assigned) => assigned.startsWith(`${path[0]}=`))) return undefined
  const members = optionsOfMembers.get(command) ?? {}
  const flagOf = (member: string) =>
    members[member] ??
    command.options.find(
      (option) => !option.negate && option.attributeName() === member && !OTHER_OPTIONS.includes(member),
    )?.long
  const depths = path.map((_, at) => path.length - at)
  const depth = depths.find((length) => flagOf(path.slice(0, length).join('.')) !== undefined)
  if (depth === undefined) return undefined
  const flag = flagOf(path.slice(0, depth).join('.'))
  const inner = placeOf(path.slice(depth))
  const name = [placeOf(path), path.findLast((part) => !isIndex(part)) ?? ''].find((known) =>
    detail.startsWith(`${known} `),
  )
  if (name === undefined) return `${flag}: ${detail}`
  const words = detail.slice(name.length + 1)
  const isSeconds = name.endsWith('Seconds') && / at (least|most) [\d.]+\.$/.test(words)
  return `${flag} ${inner === '' ? '' : `${inner} `}${isSeconds ? words.replace(/\.$/, ' seconds.') : words}`
}

const isIndex = (part: string) => /^\d+$/.test(part)

const placeOf = (path: readonly string[]) =>
  path.map((part, at) => (isIndex(part) ? `[${part}]` : at === 0 ? part : `.${part}`)).join('')
