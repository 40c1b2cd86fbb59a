import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fakeOf } from '../matrix/support/fakes/index.ts'
import type { Rig } from '../matrix/support/rig.ts'
import { endLeftovers } from './leftovers.ts'
import { type Client, noteOf, type Place } from './programs.ts'
import { pythonCommand } from './python.ts'
import { nothingSeen, type Seen, scriptedModel } from './scripted-model.ts'
import { after, commandOutput, noteText, secret } from './tasks.ts'

/** An upstream with one dialect, and the type of the channel that calls it. */
export interface Upstream {
  title: string
  provider: string
  dialect: string
  type: number
}

export const upstreams: readonly Upstream[] = [
  { title: 'chat (8)', provider: 'custom', dialect: 'openai-chat', type: 8 },
  { title: 'Messages (14)', provider: 'anthropic', dialect: 'anthropic-messages', type: 14 },
  { title: 'Gemini (24)', provider: 'gemini', dialect: 'gemini', type: 24 },
  { title: 'Responses (1)', provider: 'openai', dialect: 'openai-responses', type: 1 },
]

/** The outcome of one task. `faults` has a description of each fault, and is empty if the task succeeded. */
export interface Outcome {
  faults: string[]
  /** Names of the tools that the model called. */
  called: string[]
  /** The client's output, for finding the cause. */
  printed: string
}

const longestMs = 180_000

/** Gives one client the task through a channel of one dialect, and checks the result. */
export async function runTask(
  rig: Rig,
  client: Client,
  upstream: Upstream,
  { folder: installed, path }: { folder: string; path: string },
): Promise<Outcome> {
  const base = mkdtempSync(join(tmpdir(), 'tollgate-client-'))
  try {
    const place = await placeIn(base, rig, client, upstream)
    const note = noteOf(place)
    writeFileSync(note, noteText)
    const seen = nothingSeen()
    rig.answer(scriptedModel(fakeOf(upstream.provider, upstream.dialect), note, seen))
    const since = await lastId(rig)
    const refusedBefore = await refusedTokens(rig)
    const { exit, printed } = await startClient(client, place, { folder: installed, path })
    const reported = client.asksForObject ? [secret] : [secret, commandOutput]
    const faults = [
      ...(exit === 0 ? [] : [`exit code ${exit}`]),
      ...(reported.every((each) => printed.includes(each)) ? [] : ['the final text was not printed']),
      ...(client.asksForObject ? [] : toolFaults(note, seen)),
      ...refusalFaults(client, (await refusedTokens(rig)) - refusedBefore),
      ...(await rowFaults(rig, since, seen.all, client.expects)),
    ]
    return { faults, called: seen.called, printed }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function toolFaults(note: string, { called }: Seen): string[] {
  return [
    ...(readFileSync(note, 'utf8').includes(after) ? [] : ['the file was not edited']),
    ...(called.length === 3 ? [] : [`${called.length} of 3 tools were called`]),
  ]
}

/** A home folder and a working folder, both empty. */
export function foldersIn(base: string): Pick<Place, 'home' | 'folder'> {
  const folders = { home: join(base, 'home'), folder: join(base, 'task') }
  for (const each of Object.values(folders)) mkdirSync(each)
  return folders
}

async function placeIn(base: string, rig: Rig, client: Client, { type, dialect }: Upstream): Promise<Place> {
  const folders = foldersIn(base)
  // A model that is available only in the Responses API is called through it, whatever dialect the caller uses.
  const mapped = type === 1 ? { model_mapping: JSON.stringify({ [client.model]: 'o1-pro' }) } : {}
  const token = await rig.token({ type, name: `${client.name} ${dialect}`, ...mapped })
  return { url: rig.gateway.url, token, ...folders }
}

/** Starts a client in its folder and waits until it ends. It is killed after three minutes. */
export async function startClient(
  client: Client,
  place: Place,
  { folder: installed, path }: { folder: string; path: string },
): Promise<{ exit: number; printed: string }> {
  const { args, env, files } = client.start(place)
  for (const [name, text] of Object.entries(files ?? {})) {
    mkdirSync(dirname(join(place.home, name)), { recursive: true })
    writeFileSync(join(place.home, name), text)
  }
  const child = Bun.spawn([...commandOf(client, installed), ...args], {
    cwd: place.folder,
    env: { PATH: path, HOME: place.home, TERM: 'dumb', CI: 'true', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: longestMs,
    killSignal: 'SIGKILL',
  })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const exit = await child.exited
  endLeftovers(place.home)
  return { exit, printed: `${output}\n${errors}` }
}

function commandOf({ run }: Client, installed: string): string[] {
  if ('program' in run) return [join(installed, 'node_modules/.bin', run.program)]
  if (run.script.endsWith('.py')) return pythonCommand(installed, join(import.meta.dir, 'scripts', run.script))
  // The script is copied next to the packages, where Node resolves its imports.
  const script = join(installed, run.script)
  for (const each of ['task-tools.mjs', run.script])
    copyFileSync(join(import.meta.dir, 'scripts', each), join(installed, each))
  return ['node', script]
}

/** How many calls the gateway has refused since its start because of an unknown token. Such calls have no log row. */
async function refusedTokens(rig: Rig): Promise<number> {
  const [, count] =
    /error_answers_total\{code="invalid_token"\} (\d+)/.exec(await rig.gateway.context.metrics.text()) ?? []
  return Number(count ?? 0)
}

function refusalFaults({ asksWithWrongToken }: Client, refused: number): string[] {
  const wanted = asksWithWrongToken ? 1 : 0
  return refused === wanted ? [] : [`${refused} calls with a wrong token in place of ${wanted}`]
}

const rows = (rig: Rig) => rig.gateway.context.store.read.selectFrom('logs')

/** The id of the newest log row. */
export async function lastId(rig: Rig): Promise<number> {
  const row = await rows(rig).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row?.id ?? 0
}

/** Faults in the log rows of a task: each call must have one row that is complete, charged and without an error. */
async function rowFaults(rig: Rig, since: number, calls: number, expects: readonly string[] = []): Promise<string[]> {
  const written = await rows(rig).selectAll().where('id', '>', since).where('type', 'in', [2, 6]).execute()
  const charged = written.filter(({ type }) => type === 2)
  return [
    ...written
      .filter(({ type, code }) => type === 6 && !expects.includes(code))
      .map(({ content }) => `error row: ${content.slice(0, 120)}`),
    ...charged.filter(({ outcome }) => outcome !== 'complete').map(({ outcome }) => `a call ended as ${outcome}`),
    ...(charged.every(({ quota }) => quota > 0) ? [] : ['a call was not charged']),
    ...(charged.length === calls ? [] : [`${charged.length} log rows for ${calls} calls`]),
  ]
}
