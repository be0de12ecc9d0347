import { type JsonOption, printHint, printJson, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { asOperatorOfAll } from '../operatorSession.ts'
import type { ProgramParts } from '../programParts.ts'

/** Rounds over several cells: more are needed only while secrets are sealed with an old key. */
const ROUNDS_MAX = 10

export function addSecretsCommands(command: Command, parts: ProgramParts): void {
  command
    .command('rotate')
    .description('re-encrypt stored secrets with the first key of CREEL_SECRET_KEYS; the service may run')
    .option('--json', 'print {"resealedCount","unreadableCount"} on one line')
    .action(async ({ json }: JsonOption) => {
      const rotate = () => asOperatorOfAll(parts, (operator) => operator.secrets.rotate())
      let [resealedCount, lastCount, rounds] = [0, 0, 0]
      let cells: Awaited<ReturnType<typeof rotate>>
      do {
        cells = await rotate()
        lastCount = sumOf(cells.map(({ answer }) => answer.resealedCount))
        resealedCount += lastCount
        rounds += 1
        // A workspace may have come from a cell before its turn, to one after its turn.
      } while (lastCount > 0 && cells.length > 1 && rounds < ROUNDS_MAX)
      if (lastCount > 0 && rounds === ROUNDS_MAX) {
        printHint('A process still seals with an old key. Give each the new one first, then rotate again.')
        process.exitCode = 1
      }
      const unreadableCount = sumOf(cells.map(({ answer }) => answer.unreadableCount))
      const isMoving = cells.some(({ answer }) => answer.isMoving)
      if (isMoving) {
        printHint('A workspace is being moved, with secrets of an old key. Rotate again when that has ended.')
        process.exitCode = 1
      }
      if (unreadableCount > 0) {
        printHint(`${unreadableCount} stored secrets fit none of the keys and were left unchanged.`)
        process.exitCode = 1
      }
      if (json === true) return printJson({ resealedCount, unreadableCount })
      printText(`Re-encrypted ${resealedCount} stored ${resealedCount === 1 ? 'secret' : 'secrets'}.`)
      if (process.exitCode === undefined) printHint('Now remove the old keys from CREEL_SECRET_KEYS.')
    })
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)
