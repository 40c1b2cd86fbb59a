#!/usr/bin/env node
// The program "tollgate" of the npm package: starts the server in the current folder, or runs a command.
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runBun } from '../tools/bun.mjs'

const program = resolve(dirname(fileURLToPath(import.meta.url)), '../dist/main.js')

try {
  // The 'ipc' slot closes when this process dies, even by SIGKILL. The server then releases the port.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  process.exit(await runBun([program, ...process.argv.slice(2)], { cwd: process.cwd(), stdio }))
} catch (error) {
  console.error(`Tollgate cannot start: ${error.message}`)
  process.exit(1)
}
