import { type Browser, chromium } from 'playwright-core'
import { findChromium, howToInstall } from '../../../tools/chromium.mjs'

/**
 * What every window of a full Chromium starts and no page needs: suggestions under its address bar that are pages
 * themselves, and cost as much as the page under test. If this argument occurs twice, Chromium uses only the last, so
 * the features that Playwright turns off for tests are repeated here.
 */
const withoutFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch'],
  'ThirdPartyStoragePartitioning',
]

let running: Promise<Browser> | undefined
let users = 0

/** A Chromium shared by all files of a run; it ends when the last one returns it. */
export function borrowBrowser(): Promise<Browser> {
  users++
  return liveBrowser()
}

/** The browser; a new one if the machine has ended it. */
export async function liveBrowser(): Promise<Browser> {
  if (running && !(await running).isConnected()) running = undefined
  running ??= launch()
  return running
}

function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(howToInstall)
  // The browser's sandbox needs rights that containers mostly lack; the pages here are our own.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', `--disable-features=${withoutFeatures}`]
  return chromium.launch({ executablePath, args })
}

/** Returns the browser. */
export async function returnBrowser(): Promise<void> {
  users--
  if (users > 0 || running === undefined) return
  const browser = running
  running = undefined
  await (await browser).close()
}
