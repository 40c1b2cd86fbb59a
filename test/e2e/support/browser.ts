import { type Browser, chromium } from 'playwright-core'
import { findChromium, howToInstall } from '../../../tools/chromium.mjs'

/**
 * Features of Chromium that the tests do not need. For example, the suggestions under the address bar are pages of
 * their own and cost as much CPU time as the page under test. If `--disable-features` occurs twice, Chromium uses only
 * the last one, so the features that Playwright turns off for tests are repeated here.
 */
const withoutFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch'],
  'ThirdPartyStoragePartitioning',
  'SpareRendererForSitePerProcess',
]

/**
 * Turns off V8's optimising compilers. The pages of a test are open only for seconds, so optimising their code costs
 * more time than it saves. Without these compilers, opening a page and checking it with axe takes a quarter less CPU
 * time.
 */
const withoutLateCompilers = '--js-flags=--no-turbofan,--no-maglev'

let running: Promise<Browser> | undefined
let users = 0

/** Returns a Chromium shared by all test files of a run. The browser is closed when the last file returns it. */
export function borrowBrowser(): Promise<Browser> {
  users++
  return liveBrowser()
}

/** The running browser, or a new one if the operating system has killed it. */
export async function liveBrowser(): Promise<Browser> {
  if (running && !(await running).isConnected()) running = undefined
  running ??= launch()
  return running
}

function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(howToInstall)
  // The browser's sandbox needs permissions that most containers lack. It is not needed here, because all pages are our
  // own.
  const args = [
    '--no-sandbox',
    '--disable-dev-shm-usage',
    `--disable-features=${withoutFeatures}`,
    withoutLateCompilers,
  ]
  return chromium.launch({ executablePath, args })
}

/** Gives the browser back, and closes it if no other file is using it. */
export async function returnBrowser(): Promise<void> {
  users--
  if (users > 0 || running === undefined) return
  const browser = running
  running = undefined
  await (await browser).close()
}
