// npm run tollgate: runs a command of Tollgate on an installation. Without arguments, it lists the commands. To start
// the server, use npm start.
import { runBun } from './bun.mjs'
import { ensureInstalled } from './install.mjs'

const args = process.argv.slice(2)
ensureInstalled({ production: true })
const code = await runBun(['server/main.ts', ...(args.length > 0 ? args : ['--help'])])
process.exit(args.length > 0 ? code : 2)
