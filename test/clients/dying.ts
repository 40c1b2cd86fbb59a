import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fake from '../helpers/fake-upstream.ts'
import { fakeOf } from '../matrix/support/fakes/index.ts'
import { type Rig, startMatrixRig } from '../matrix/support/rig.ts'
import { type Client, claudeCode, codexSockets, geminiCli, noteOf } from './programs.ts'
import { foldersIn, lastId, type Outcome, startClient, type Upstream, upstreams } from './run.ts'
import { nothingSeen, scriptedModel, unsummedCalls } from './scripted-model.ts'
import { after, commandOutput, noteText, secret } from './tasks.ts'

/** The programs that are tested with a service that fails in the middle of the task. */
export const dyingClients: readonly Client[] = [claudeCode, codexSockets, geminiCli]

/** More tokens than Codex may use before it asks for its conversation to be shortened. */
const longPrompt = 2000

/**
 * A service that reports `longPrompt` prompt tokens for each request with at least two tool calls in its history, so
 * that Codex asks for a shorter history.
 */
function growing(inner: fake.Behaviour): fake.Behaviour {
  return fake.rewritten(inner, (text, { fields }) =>
    unsummedCalls(fields) < 2
      ? text
      : text.replace(/"(prompt_tokens|input_tokens|promptTokenCount)":20/g, `"$1":${longPrompt}`),
  )
}

/** How a service fails from its second request on. */
interface Death {
  title: string
  of(alive: fake.Behaviour): fake.Behaviour
  /**
   * True if the program sees the failure and has to send its request again. Half a tool call can be neither used nor
   * continued.
   */
  isSeen?: true
}

const deaths: readonly Death[] = [
  { title: 'answers 503', of: () => fake.status(503) },
  { title: 'answers 429', of: () => fake.status(429, { retryAfter: 60 }) },
  { title: 'resets connections', of: () => fake.resetsBeforeHeaders() },
  { title: 'breaks off before a word', of: (alive) => fake.breaksOffAfter(1, alive) },
  { title: 'breaks off within tool calls', of: (alive) => fake.breaksOffAfter(3, alive), isSeen: true },
  { title: 'falls silent', of: () => fake.neverAnswers() },
]

/** The titles of the table's columns. */
export const dyingColumns = deaths.map(({ title }) => title)

/** The services of the three steps. In each column of the table, a different service comes first. */
const services = upstreams.filter(({ dialect }) => dialect !== 'openai-responses')
const rotated = (by: number) => services.map((_, at) => services[(at + by) % services.length] as Upstream)

/**
 * Gives a program the task through a virtual model with three steps, whose services use three dialects. The first
 * service fails after its first answer. Returns one outcome for each column of the table.
 */
export async function runDying(client: Client, installed: { folder: string; path: string }): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const [column, death] of deaths.entries())
    outcomes.push(await runOne(client, { installed, death, order: rotated(column) }))
  return outcomes
}

interface Trial {
  installed: { folder: string; path: string }
  death: Death
  order: readonly Upstream[]
}

async function runOne(client: Client, { installed, death, order }: Trial): Promise<Outcome> {
  const base = mkdtempSync(join(tmpdir(), 'tollgate-client-'))
  const models = order.map(({ dialect }) => `step-${dialect}`)
  await using rig = await startMatrixRig(models, { retries: true })
  try {
    await addSteps(rig, client.model, order)
    const folders = foldersIn(base)
    const note = noteOf({ folder: folders.folder })
    const seen = nothingSeen()
    const [dying, ...others] = order.map(({ provider, dialect }) =>
      growing(scriptedModel(fakeOf(provider, dialect), note, seen)),
    )
    if (dying) rig.upstream.forKey('key-0', dying, death.of(dying))
    for (const [at, each] of others.entries()) rig.upstream.forKey(`key-${at + 1}`, each)
    writeFileSync(note, noteText)
    const since = await lastId(rig)
    const { token } = await rig.gateway.addCaller({ user: 1e9, token: 1e9 })
    const { exit, printed } = await startClient(client, { url: rig.gateway.url, token, ...folders }, installed)
    return { faults: await faultsOf({ rig, note, since, exit, printed }, death), called: seen.called, printed }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/** A channel for each step, and the virtual model that the program asks for. */
async function addSteps(rig: Rig, name: string, order: readonly Upstream[]): Promise<void> {
  await rig.gateway.setOption('StreamRescue', 'true')
  for (const [at, { type, dialect }] of order.entries())
    await rig.gateway.addChannel({ type, key: `key-${at}`, models: `step-${dialect}`, base_url: rig.upstream.url })
  const steps = order.map(({ dialect }) => ({ model: `step-${dialect}`, first_token_timeout: 2 }))
  await rig.gateway.api('POST', '/api/virtual-model/', { name, steps })
}

interface Observed {
  rig: Rig
  note: string
  since: number
  exit: number
  printed: string
}

/** Matches output in which a program reports an error or a new attempt. */
const complaint = /reconnecting|stream (?:disconnected|error)|api error|"is_error": ?true|retrying|status 5\d\d/i

async function faultsOf({ rig, note, since, exit, printed }: Observed, { isSeen }: Death): Promise<string[]> {
  const rows = await rig.gateway.context.store.read.selectFrom('logs').selectAll().where('id', '>', since).execute()
  const calls = rows.filter(({ type }) => type === 2)
  const usual = ['complete', 'rescued', ...(isSeen ? ['interrupted'] : [])]
  const shown = isSeen ? undefined : complaint.exec(printed)?.[0]
  // A stream that breaks off before the caller has received any part of it is free.
  const isFree = (call: (typeof calls)[number]) => call.outcome === 'interrupted' && call.first_byte_time === 0
  return [
    ...(exit === 0 ? [] : [`exit code ${exit}`]),
    ...([secret, commandOutput].every((each) => printed.includes(each)) ? [] : ['the final text was not printed']),
    ...(shown === undefined ? [] : [`it showed "${shown}"`]),
    ...(readFileSync(note, 'utf8').includes(after) ? [] : ['the file was not edited']),
    ...rows.filter(({ type }) => type === 6).map(({ content }) => `error row: ${content.slice(0, 120)}`),
    ...calls.filter(({ outcome }) => !usual.includes(outcome)).map(({ outcome }) => `a call ended as ${outcome}`),
    ...(calls.every((call) => call.quota > 0 || isFree(call)) ? [] : ['a call was not charged']),
    ...(calls.some(({ attempts, outcome }) => attempts !== '' || outcome === 'interrupted')
      ? []
      : ['the first service did not die']),
  ]
}
