// Starts the product: installs missing packages, builds the console and the server if they are out of date, and runs
// the server.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, runBun } from './bun.mjs'
import { buildConsoleIfStale, consoleIsStale } from './console-build.mjs'
import { ensureInstalled } from './install.mjs'
import { serverProgram } from './server-build.mjs'

async function start() {
  // The development packages are needed only for building the console, not for running the server.
  ensureInstalled({ production: !consoleIsStale() })
  await buildConsoleIfStale()
  if (!existsSync(join(root, 'server/main.ts'))) throw new Error('server/main.ts is missing.')
  // The 'ipc' channel closes when this process dies, even by SIGKILL. The server then gets "disconnect" and releases
  // the port.
  const args = [serverProgram(), ...process.argv.slice(2)]
  return runBun(args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
}

try {
  process.exit(await start())
} catch (error) {
  console.error(`Tollgate cannot start: ${error.message}`)
  process.exit(1)
}
