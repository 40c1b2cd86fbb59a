import { type Browser, chromium } from 'playwright-core'
import { findChromium, howToInstall } from '../../../tools/chromium.mjs'

/**
 * Features that every window of a full Chromium starts although no page needs them: suggestions under the address bar,
 * which are pages themselves and cost as much as the page under test. If this argument occurs twice, Chromium uses only
 * the last one, so the features that Playwright turns off for tests are repeated here.
 */
const withoutFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch'],
  'ThirdPartyStoragePartitioning', 'SpareRendererForSitePerProcess',
]

let running: Promise<Browser> | undefined
let users = 0

/** Returns a Chromium shared by all files of a run; it ends when the last file returns it. */
export function borrowBrowser(): Promise<Browser> {
  users++
  return liveBrowser()
}

/** The running browser, or a new one if the operating system has ended it. */
export async function liveBrowser(): Promise<Browser> {
  if (running && !(await running).isConnected()) running = undefined
  running ??= launch()
  return running
}

function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(howToInstall)
  // The browser's sandbox needs permissions that most containers lack; the pages here are our own.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', `--disable-features=${withoutFeatures}`]
  return chromium.launch({ executablePath, args })
}

/** Returns the browser, which ends if no other file uses it. */
export async function returnBrowser(): Promise<void> {
  users--
  if (users > 0 || running === undefined) return
  const browser = running
  running = undefined
  await (await browser).close()
}
