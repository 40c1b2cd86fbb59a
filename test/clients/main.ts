// Gives real agent programs and libraries a task through a running gateway: npm run clients [-- names of clients]. With
// --python, it runs the libraries from PyPI. With --table, it makes only one table of the page.
import { parseArgs } from 'node:util'
import { startMatrixRig } from '../matrix/support/rig.ts'
import { dyingClients, dyingColumns, runDying } from './dying.ts'
import { installClient, installNode } from './install.ts'
import { libraries } from './libraries.ts'
import { markdown, type Table, writeTable } from './page.ts'
import { type Client, programs } from './programs.ts'
import { installPythonClient, missingForPython } from './python.ts'
import { pythonLibraries } from './python-libraries.ts'
import { refusals, runRefusal } from './refusals.ts'
import { type Outcome, runTask, upstreams } from './run.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: {
    verbose: { type: 'boolean', default: false },
    python: { type: 'boolean', default: false },
    table: { type: 'string' },
  },
  allowPositionals: true,
})

const passed = 'passed'

/** The folder of a client, which is installed first if necessary, or the reason why the installation failed. */
function folderOf(client: Client): { folder: string } | { failure: string } {
  try {
    return { folder: values.python ? installPythonClient(client) : installClient(client) }
  } catch (error) {
    return { failure: String(error instanceof Error ? error.message : error) }
  }
}

/** The table cells of a client, one for each upstream. */
async function cellsOf(client: Client, path: string): Promise<string[]> {
  const place = folderOf(client)
  if ('failure' in place) return upstreams.map(() => place.failure)
  // Each client gets its own gateway, so that what one client leaves behind does not affect the next.
  await using rig = await startMatrixRig([client.model])
  const cells: string[] = []
  for (const upstream of upstreams) {
    const outcome = await runTask(rig, client, upstream, { folder: place.folder, path })
    const text = outcome.faults.join('; ') || passed
    console.log(`${client.name} → ${upstream.title}: ${text} (${outcome.called.join(', ')})`)
    if (values.verbose || text !== passed) tell(outcome)
    cells.push(text)
  }
  return cells
}

/** The table cells of a client, one for each reason to refuse its request. */
async function refusedCellsOf(client: Client, path: string): Promise<string[]> {
  const place = folderOf(client)
  if ('failure' in place) return refusals.map(() => place.failure)
  await using rig = await startMatrixRig([client.model])
  const cells: string[] = []
  for (const refusal of refusals) {
    const { faults, printed } = await runRefusal(rig, client, refusal, { folder: place.folder, path })
    const text = faults.join('; ') || passed
    console.log(`${client.name}, ${refusal}: ${text}`)
    if (values.verbose || text !== passed) tell({ printed })
    cells.push(text)
  }
  return cells
}

/** The table cells of a client, one for each way in which the first service fails. */
async function dyingCellsOf(client: Client, path: string): Promise<string[]> {
  const place = folderOf(client)
  if ('failure' in place) return dyingColumns.map(() => place.failure)
  const outcomes = await runDying(client, { folder: place.folder, path })
  return outcomes.map((outcome, at) => {
    const text = outcome.faults.join('; ') || passed
    console.log(`${client.name}, the first service ${dyingColumns[at]}: ${text} (${outcome.called.join(', ')})`)
    if (values.verbose || text !== passed) tell(outcome)
    return text
  })
}

function tell({ printed }: Pick<Outcome, 'printed'>): void {
  console.log(printed.trim().slice(-3000).replaceAll(/^/gm, '    '))
}

interface Plan {
  name: string
  clients: readonly Client[]
  columns: readonly string[]
  cells(client: Client, path: string): Promise<string[]>
}

async function tableOf({ clients, columns, cells }: Plan, path: string): Promise<Table> {
  const rows: string[][] = []
  for (const client of clients) {
    if (positionals.length > 0 && !positionals.includes(client.id)) continue
    const [version = ''] = Object.values(client.packages)
    rows.push([client.name, version, client.speaks, ...(await cells(client, path))])
  }
  return { columns: ['Client', 'Version', 'Speaks', ...columns], rows }
}

const missing = values.python ? missingForPython() : undefined
if (missing) {
  console.error(`${missing} is missing. Install it and run this again.`)
  process.exit(1)
}

let failed = 0
const path = values.python ? (process.env['PATH'] ?? '') : installNode()
const task = { columns: upstreams.map(({ title }) => title), cells: cellsOf }
const plans: readonly Plan[] = values.python
  ? [{ name: 'python', clients: pythonLibraries, ...task }]
  : [
      { name: 'programs', clients: programs, ...task },
      { name: 'libraries', clients: libraries, ...task },
      { name: 'dying', clients: dyingClients, columns: dyingColumns, cells: dyingCellsOf },
      { name: 'refusals', clients: programs, columns: refusals, cells: refusedCellsOf },
    ]
if (values.table !== undefined && !plans.some(({ name }) => name === values.table)) {
  console.error(`There is no table ${values.table}. Choose one of: ${plans.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}
for (const plan of plans) {
  if (values.table !== undefined && plan.name !== values.table) continue
  const table = await tableOf(plan, path)
  if (table.rows.length > 0) console.log(`\n${markdown(table)}\n`)
  // A partial run would remove the other clients from the page, so only a full run writes the table.
  if (positionals.length === 0) writeTable(plan.name, table, new Date().toISOString().slice(0, 10))
  failed += table.rows.flatMap((row) => row.slice(3)).filter((text) => text !== passed).length
}
process.exit(failed > 0 ? 1 : 0)
