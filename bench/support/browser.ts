import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/** Flags of the package that would make measurements wrong, or the browser crash. */
const UNWANTED =
  /single-process|no-zygote|disable-web-security|window-size|headless|in-process-gpu|use-gl|use-angle|swiftshader/

/** Launches a headless Chromium from npm; nothing needs to be installed. */
export async function openBrowser(): Promise<Browser> {
  return await playwright.launch({
    executablePath: await chromium.executablePath(),
    // The processor draws the pages. With an emulated graphics card it takes one and a half cores more.
    args: [...chromium.args.filter((flag) => !UNWANTED.test(flag)), '--no-sandbox', '--disable-gpu'],
    headless: true,
  })
}
