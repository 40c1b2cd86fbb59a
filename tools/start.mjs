// Brings up the product: installs what is missing, builds the console and the server where stale, runs the server.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, runBun } from './bun.mjs'
import { buildConsoleIfStale, consoleIsStale } from './console-build.mjs'
import { ensureInstalled } from './install.mjs'
import { serverProgram } from './server-build.mjs'

// Building the console needs the development packages; running the server does not.
ensureInstalled({ production: !consoleIsStale() })
await buildConsoleIfStale()

if (!existsSync(join(root, 'server/main.ts'))) {
  console.error('server/main.ts is missing.')
  process.exit(1)
}

// The 'ipc' slot closes when this process dies, even by SIGKILL: the server hears "disconnect" and gives the port back.
const args = [serverProgram(), ...process.argv.slice(2)]
process.exit(await runBun(args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] }))
