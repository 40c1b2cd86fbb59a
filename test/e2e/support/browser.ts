import { type Browser, chromium } from 'playwright-core'
import { findChromium, howToInstall } from '../../../tools/chromium.mjs'

let running: Promise<Browser> | undefined
let users = 0

/** A Chromium that all files of a run share; the last one that gives it back ends it. */
export async function borrowBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(howToInstall)
  users++
  // The sandbox of the browser needs rights that containers mostly do not have; pages here are our own.
  running ??= chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  return running
}

/** Gives the browser back. */
export async function returnBrowser(): Promise<void> {
  users--
  if (users > 0 || running === undefined) return
  const browser = running
  running = undefined
  await (await browser).close()
}
