// Finds the browser for the console tests, or installs it if this is possible without confirmation.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Headless Chromium, which uses about half the CPU time of the full browser. */
const headlessShell = 'chromium-headless-shell'
const names = [headlessShell, 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']

function onPath() {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/usr/local/bin', '/snap/bin']
  return names.flatMap((name) => folders.map((folder) => join(folder, name)))
}

/** Browsers that Playwright downloaded earlier. */
function fromPlaywright() {
  const cache = process.env.PLAYWRIGHT_BROWSERS_PATH ?? join(homedir(), '.cache/ms-playwright')
  const folders = existsSync(cache) ? readdirSync(cache).filter((name) => /^chromium-\d+$/.test(name)) : []
  return folders.map((name) => join(cache, name, 'chrome-linux/chrome'))
}

const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** Path of a Chromium, or undefined. CHROMIUM_PATH takes precedence. */
export function findChromium() {
  const given = process.env.CHROMIUM_PATH
  const candidates = [...(given ? [given] : []), ...onPath(), ...fromPlaywright(), ...elsewhere]
  return candidates.find((path) => existsSync(path))
}

export const howToInstall =
  'The tests of the console need Chromium: run "apt-get install -y chromium" as root, or set CHROMIUM_PATH to a Chromium or Chrome.'

/** Installs Chromium if the system is Debian and this process runs as root. Returns its path or undefined. */
export function ensureChromium() {
  const found = findChromium()
  if (found || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return found
  console.error('Installing Chromium …')
  const options = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const install = (name) => spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], options)
  spawnSync('apt-get', ['update', '-qq'], options)
  // Older releases of Debian have only the full browser.
  if (install(headlessShell).status !== 0) install('chromium')
  return findChromium()
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const path = ensureChromium()
  console.log(path ?? howToInstall)
  process.exit(path ? 0 : 1)
}
