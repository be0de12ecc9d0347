import type { CaptureSettings, Captures } from '@creel/core/capture'
import { cellOfId } from '@creel/core/cells'
import { within } from '@creel/core/platform/time'
import { ANSWER_MS, askTwice, type Cells, createMemory, type OpenCell } from './cells.ts'

/**
 * The capture path over several cells. The id of a capture URL names its cell; if that cell does not know it, all others
 * are asked. A cell that is out of reach fails its captures at once, and those of ids that no other cell knows.
 */
export function routedCaptures(cells: Cells): Captures {
  const memory = createMemory()
  const capturesOf = ({ cell }: CaptureSettings): Captures | undefined => cells.of(cell)?.captures

  const peekSettings: Captures['peekSettings'] = (captureId) => {
    const number = memory.cellOf(captureId) ?? cellOfId(captureId)
    return number === null ? undefined : cells.of(number)?.captures.peekSettings(captureId)
  }

  /**
   * @param asked a cell that was asked already: it does not know the id, or `hangs`
   */
  const findBeside = async (asked: OpenCell | undefined, captureId: string, hangs = false) => {
    const ask = async (cell: OpenCell, isAgain: boolean) => {
      if (cell !== asked || isAgain) return await cell.captures.findSettings(captureId)
      if (hangs) throw new Error(`The cell did not answer within ${ANSWER_MS} ms.`)
      return undefined
    }
    const found = await askTwice({ cells, memory }, { handle: captureId, hint: null }, ask)
    if (found !== undefined && found.answer.cell !== cellOfId(captureId))
      memory.remember(captureId, found.answer.cell)
    return found?.answer
  }

  const findSettings: Captures['findSettings'] = async (captureId) => {
    const hint = memory.cellOf(captureId) ?? cellOfId(captureId)
    const cell = hint === null ? undefined : cells.of(hint)
    const known = cell?.captures.findSettings(captureId).then((settings) => ({ settings }))
    const answer = known === undefined ? undefined : await within(known, ANSWER_MS)
    if (cell !== undefined && answer === undefined) return await findBeside(cell, captureId, true)
    if (answer?.settings !== undefined || memory.isUnknown(captureId)) return answer?.settings
    return await findBeside(cell, captureId)
  }

  const checkSettings: Captures['checkSettings'] = async (settings, captureId) => {
    const state = (await capturesOf(settings)?.checkSettings(settings, captureId)) ?? 'present'
    if (state !== 'gone' || memory.isUnknown(captureId)) return state
    // As for a capture: the workspace may have moved.
    memory.forget(captureId)
    return (await findBeside(cells.of(settings.cell), captureId)) === undefined ? 'gone' : 'stale'
  }

  const capture: Captures['capture'] = async (settings, request, options) => {
    const captures = capturesOf(settings)
    if (captures === undefined) return { state: 'unavailable' }
    const result = await captures.capture(settings, request, options)
    // The settings may be of a workspace that has moved.
    if (result.state !== 'gone' || memory.isUnknown(options.captureId)) return result
    memory.forget(options.captureId)
    const elsewhere = await findBeside(cells.of(settings.cell), options.captureId)
    if (elsewhere === undefined) return result
    return (await capturesOf(elsewhere)?.capture(elsewhere, request, options)) ?? result
  }

  return {
    peekSettings,
    findSettings,
    refuseEarly: (settings) => capturesOf(settings)?.refuseEarly(settings),
    refuseForeign: (settings, address) => capturesOf(settings)?.refuseForeign(settings, address),
    checkSettings,
    capture,
    async chooseAnswer(result) {
      const captures = capturesOf(result.capture.settings)
      if (captures !== undefined) return await captures.chooseAnswer(result)
      // The cell became unreachable after the commit. Answer as stored, or the sender would send it again.
      return () => Promise.resolve({ served: result.capture.settings.response, close: null })
    },
    // The opener of a cell connects its captures, and closes them.
    connect: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}
