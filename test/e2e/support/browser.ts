import { type Browser, chromium } from 'playwright-core'
import { findChromium, howToInstall } from '../../../tools/chromium.mjs'

/**
 * What every window of a full Chromium starts and no page needs: lists under its address bar that are pages themselves,
 * and cost as much as the page that is tested. Of two such arguments the browser hears the last one, so that what
 * Playwright turns off for the sake of tests stands here, too.
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

/** A Chromium that all files of a run share; the last one that gives it back ends it. */
export function borrowBrowser(): Promise<Browser> {
  users++
  return liveBrowser()
}

/** The browser; another one when the machine has ended it. */
export async function liveBrowser(): Promise<Browser> {
  if (running && !(await running).isConnected()) running = undefined
  running ??= launch()
  return running
}

function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(howToInstall)
  // The sandbox of the browser needs rights that containers mostly do not have; pages here are our own.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', `--disable-features=${withoutFeatures}`]
  return chromium.launch({ executablePath, args })
}

/** Gives the browser back. */
export async function returnBrowser(): Promise<void> {
  users--
  if (users > 0 || running === undefined) return
  const browser = running
  running = undefined
  await (await browser).close()
}
