// Runs the server, and restarts it on every change. Also runs the console from its sources on another port, which
// forwards calls to the server.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bunEnvironment, findBun, root } from './bun.mjs'
import { ensureInstalled } from './install.mjs'

ensureInstalled()

const port = process.env.PORT ?? '3000'
const env = { ...bunEnvironment, TOLLGATE_SERVER: `http://127.0.0.1:${port}` }
const programs = [
  ['--watch', 'server/main.ts'],
  ['--bun', join(root, 'node_modules/vite/bin/vite.js'), ...process.argv.slice(2)],
]
const children = programs.map((args) => spawn(findBun(), args, { cwd: root, env, stdio: 'inherit' }))

const end = () => {
  for (const child of children) child.kill('SIGTERM')
}
process.on('SIGINT', end).on('SIGTERM', end)
// Each process is useless without the other, so both end together.
const codes = children.map((child) => new Promise((done) => child.on('exit', (code) => done(code ?? 1))))
const code = await Promise.race(codes)
end()
await Promise.all(codes)
process.exit(code)
