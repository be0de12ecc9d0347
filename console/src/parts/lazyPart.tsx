import { type ComponentType, lazy } from 'react'
import { watched } from '../live/outage.ts'
import { reconnectMs } from '../live/reconnect.ts'

/** The service has another version of the page, which lacks a file of this one. Only a reload helps. */
export class OutdatedPage extends Error {
  override readonly name = 'OutdatedPage'
}

/** The entry script of this page. Its name changes with its content. */
const ENTRY = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.src

/**
 * A part of the page whose code is loaded when it is shown. A failed load is tried again until the service answers, so
 * that an outage never leaves an empty place.
 *
 * @throws OutdatedPage, when it is rendered, if the file is gone because the service was upgraded
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await loaded(load) }))
}

async function loaded<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await load()
    } catch (error) {
      const version = await servedVersion()
      if (version === 'other') throw new OutdatedPage()
      // Browsers may keep a failed import for as long as the page lives. Only a reload asks again.
      if (version === 'same' && failures > 0) reloadOnce(error)
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectMs(failures)))
  }
}

/** The least time between two reloads that the page makes by itself, in milliseconds. */
const RELOAD_MS = 60_000
const RELOADED_AT = 'creel reloaded at'

/** Reloads the page, which keeps its drafts. @throws error, if that was done a moment ago and did not help */
function reloadOnce(error: unknown): void {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < RELOAD_MS) throw error
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  location.reload()
}

/** Whether the service serves this version of the page or another; undefined while it does not answer. */
async function servedVersion(): Promise<'same' | 'other' | undefined> {
  try {
    const response = await watched(() => fetch(new URL('/console/', location.href), { cache: 'no-store' }))
    if (!response.ok) return undefined
    const name = ENTRY === undefined ? '' : (new URL(ENTRY).pathname.split('/').at(-1) ?? '')
    return (await response.text()).includes(name) ? 'same' : 'other'
  } catch {
    return undefined
  }
}
