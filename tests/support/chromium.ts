import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import { atEnd, atEndOfRun } from './atEnd.ts'

/**
 * Flags that would make tests wrong, or the browser crash: no web security, one process, a fixed window size. The
 * software GPU is not needed, and takes as much of the processor as everything else together.
 */
const UNWANTED =
  /single-process|no-zygote|disable-web-security|allow-running-insecure|window-size|headless|in-process-gpu|use-gl|use-angle|swiftshader|ignore-gpu/

const CACHE = join(import.meta.dir, '..', '..', 'node_modules', '.cache', 'chromium')

/** The browser of all test files of this process: starting it takes longer than most tests. */
let browser: Promise<Browser> | undefined

/** A page with its own session, which is closed when the test file ends. */
export async function newPage(size: { width: number; height: number }): Promise<Page> {
  const context = await (await running()).newContext({ viewport: size, reducedMotion: 'reduce' })
  atEnd('borrowers', () => context.close())
  return await context.newPage()
}

function running(): Promise<Browser> {
  if (browser === undefined) {
    const launched = launch()
    browser = launched
    atEndOfRun(async () => {
      browser = undefined
      await (await launched).close()
    })
  }
  return browser
}

async function launch(): Promise<Browser> {
  return playwright.launch({
    executablePath: await unpacked(),
    args: [...chromium.args.filter((flag) => !UNWANTED.test(flag)), '--no-sandbox', '--disable-gpu'],
    headless: true,
  })
}

/**
 * Unpacks the package once, into a folder that outlives the run. By default it uses the temporary folder of the run.
 */
async function unpacked(): Promise<string> {
  const before = process.env.TMPDIR
  try {
    if (!existsSync(CACHE)) {
      await mkdir(join(CACHE, '..'), { recursive: true })
      const fresh = await mkdtemp(`${CACHE}-`)
      process.env.TMPDIR = fresh
      await chromium.executablePath()
      // Another test file may have been faster.
      await rename(fresh, CACHE).catch(() => rm(fresh, { recursive: true, force: true }))
    }
    process.env.TMPDIR = CACHE
    return await chromium.executablePath()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
