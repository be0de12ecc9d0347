import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/** Flags of the package that would make measurements lie, or the browser die. */
const UNWANTED =
  /single-process|no-zygote|disable-web-security|window-size|headless|in-process-gpu|use-gl|use-angle|swiftshader/

/** A headless Chromium of npm's; nothing needs to be installed. Pages are rendered by the processor. */
export async function openBrowser(): Promise<Browser> {
  return await playwright.launch({
    executablePath: await chromium.executablePath(),
    // Pages are drawn by the processor. To have it play a graphics card first takes one and a half cores more.
    args: [...chromium.args.filter((flag) => !UNWANTED.test(flag)), '--no-sandbox', '--disable-gpu'],
    headless: true,
  })
}
