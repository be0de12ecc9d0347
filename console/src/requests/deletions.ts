import type { CaptureStream } from '../live/captureStream.ts'
import { toast } from '../parts/Toasts.tsx'
import { creel, type RequestSummary } from '../trpc.ts'
import { plural } from '../words/format.ts'
import { problemOf } from '../words/problem.ts'

/** Deletes captures of an endpoint; the last deletion can be undone. */
export class Deletions {
  #last: { ids: readonly number[]; rows: readonly RequestSummary[]; closeNote: () => void } | undefined

  constructor(
    readonly endpointId: string,
    readonly stream: CaptureStream,
  ) {}

  /**
   * Removes up to 500 captures from the list, then moves them to the recycle bin. Restores them to the list when that
   * is refused. Never rejects.
   */
  async remove(ids: readonly number[]): Promise<void> {
    const rows = this.stream.remove(new Set(ids))
    try {
      await creel.requests.bulkDelete.mutate({ endpointId: this.endpointId, requestIds: [...ids] })
      const closeNote = toast(`${plural(ids.length, 'request')} moved to the recycle bin`, {
        label: 'Undo',
        run: () => void this.undo(),
      })
      this.#last = { ids, rows, closeNote }
    } catch (error) {
      this.stream.putBack(rows)
      toast(problemOf(error).detail)
    }
  }

  /** Undoes the last deletion, and reports captures that could not be restored. Never rejects. */
  async undo(): Promise<void> {
    const last = this.#last
    if (last === undefined) return
    this.#last = undefined
    last.closeNote()
    try {
      const { restoredCount, skippedAtCap } = await creel.recycleBin.restore.mutate({
        requestIds: [...last.ids],
      })
      if (skippedAtCap === 0) this.stream.putBack(last.rows)
      else await this.stream.open()
      const left = skippedAtCap === 0 ? '' : `, ${skippedAtCap} not restored: the endpoint is full`
      toast(`${plural(restoredCount, 'request')} restored${left}`)
    } catch (error) {
      toast(problemOf(error).detail)
    }
  }
}
