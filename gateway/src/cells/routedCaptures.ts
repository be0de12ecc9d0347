import type { CaptureSettings, Captures } from '@creel/core/capture'
import { cellOfId } from '@creel/core/cells'
import { askOnce, type Cells, type OpenCell } from './cells.ts'
import { createMemory } from './memory.ts'

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

  const find = async (captureId: string, hint: number | null) => {
    const ask = ({ captures }: OpenCell) => captures.findSettings(captureId)
    const found = await askOnce({ cells, memory }, { handle: captureId, hint }, ask)
    if (found !== undefined && found.answer.cell !== cellOfId(captureId))
      memory.remember(captureId, found.answer.cell)
    return found?.answer
  }

  const findSettings: Captures['findSettings'] = async (captureId) => {
    const hint = memory.cellOf(captureId) ?? cellOfId(captureId)
    const hinted = hint === null ? undefined : await cells.of(hint)?.captures.findSettings(captureId)
    if (hinted !== undefined || memory.isUnknown(captureId)) return hinted
    return await find(captureId, hint)
  }

  const capture: Captures['capture'] = async (settings, request, options) => {
    const captures = capturesOf(settings)
    if (captures === undefined) return { state: 'unavailable' }
    const result = await captures.capture(settings, request, options)
    // The settings may be of a workspace that has moved.
    if (result.state !== 'gone' || memory.isUnknown(options.captureId)) return result
    memory.forget(options.captureId)
    const elsewhere = await find(options.captureId, null)
    const moved = elsewhere === undefined ? undefined : capturesOf(elsewhere)
    if (elsewhere === undefined || moved === undefined || elsewhere.cell === settings.cell) {
      memory.rememberUnknown(options.captureId, null)
      return result
    }
    return await moved.capture(elsewhere, request, options)
  }

  return {
    peekSettings,
    findSettings,
    refuseEarly: (settings) => capturesOf(settings)?.refuseEarly(settings),
    refuseForeign: (settings, address) => capturesOf(settings)?.refuseForeign(settings, address),
    capture,
    // The opener of a cell closes its captures.
    close: () => Promise.resolve(),
  }
}
