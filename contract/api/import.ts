import * as z from 'zod/mini'
import { endpoint, idParams, mediaEndpoint } from './endpoint.ts'
import { text, trimmedText } from './fields.ts'

/** The parts of a source. */
export const importParts = ['users', 'tokens', 'channels', 'codes', 'options', 'logs'] as const
export type ImportPart = (typeof importParts)[number]

/** How large an uploaded file may be. Larger databases are imported on the command line. */
export const mostUploadBytes = 512 * 1024 * 1024

const count = z.int()

/** A sum in the source and here. They are equal once the stated corrections are added. */
const sumLine = z.object({
  name: z.string(),
  there: count,
  corrected: count.check(z.describe('What the findings change.')),
  here: count,
})

export type SumLine = z.output<typeof sumLine>

/** What the import did with something that could not be taken over as it was. */
const finding = z.object({
  kind: z.string(),
  text: z.string().check(z.describe('A whole sentence: what was found, and what becomes of it.')),
  count,
  examples: z.array(z.string()).check(z.describe('The first rows that it concerns.')),
})

export type Finding = z.output<typeof finding>

/** What a model costs there and here, in currency units per million tokens, or per call. */
const priceRow = z.object({
  model: z.string(),
  theirs: z.string(),
  ours: z.string(),
  differs: z
    .optional(z.boolean())
    .check(z.describe('Absent if it cannot be told from the database what the program charges.')),
})

export type PriceRow = z.output<typeof priceRow>

/** What an import did, or in a dry run would do. */
export const importReportSchema = z.object({
  program: z.string(),
  version: z.string(),
  source: z.string().check(z.describe('Where the source is, without its password.')),
  dryRun: z.boolean(),
  mode: z
    .enum(['empty', 'new', 'merge', 'again'])
    .check(
      z.describe(
        'empty: ids are kept. new: the installation is empty, but ids cannot be kept. merge: rows get new ids. again: an earlier import is continued.',
      ),
    ),
  added: z.object({ users: count, tokens: count, channels: count, codes: count, logs: count }),
  sums: z.array(sumLine),
  options: z.array(
    z.object({ key: z.string(), from: z.string(), to: z.string() }).check(z.describe('Secrets are not shown.')),
  ),
  prices: z.array(priceRow),
  findings: z.array(finding),
  leftoversFile: z.string().check(z.describe('The file with what has no place here; empty if there is none.')),
  leftovers: count,
  leftoversTaken: count.check(
    z.describe('What an earlier run had left over, and this one took in because this version knows it.'),
  ),
  changedMeanwhile: z
    .boolean()
    .check(z.describe('True if the source was written to while it was read: another run takes over the rest.')),
  seconds: z.number(),
})

export type ImportReport = z.output<typeof importReportSchema>

export const importStates = ['queued', 'running', 'done', 'failed', 'cancelled', 'interrupted'] as const
export type ImportState = (typeof importStates)[number]
export const importStages = ['', 'accounts', 'logs', 'usage'] as const

const time = (description: string) => z.int().check(z.describe(description))

/** How an import is to be made. */
const choices = {
  dry_run: z.boolean().check(z.describe('Find out what would happen, and change nothing.')),
  merge: z._default(z.boolean().check(z.describe('Import beside what is here already, with new ids.')), false),
  only: z._default(
    z
      .array(z.enum(importParts))
      .check(z.maxLength(importParts.length), z.describe('The parts to import; empty = all.')),
    [],
  ),
  since: z._default(
    z.int().check(z.gte(0), z.lte(1e11), z.describe('Only log rows from this time on, in epoch seconds; 0 = all.')),
    0,
  ),
}

export const importRunSchema = z.object({
  id: z.int(),
  state: z.enum(importStates).check(z.describe('interrupted: the process that made it ended. It can be continued.')),
  dry_run: z.boolean(),
  source: z.string().check(z.describe('Where the source is, without its password, or the name of the file.')),
  merge: z.boolean(),
  only: z.array(z.enum(importParts)),
  since: z.int(),
  started_by: z.string().check(z.describe('A name, or `command line`.')),
  created_at: time('Epoch seconds.'),
  finished_at: time('Epoch seconds; 0 while it runs.'),
  stage: z.enum(importStages).check(z.describe('What it is doing.')),
  done: count.check(z.describe('Log rows that are done.')),
  total: count.check(z.describe('Log rows in all; 0 if the stage has none.')),
  per_second: count.check(z.describe('Rows a second since the stage began.')),
  error: z.string().check(z.describe('Why it failed: a sentence that says what to do.')),
  can_continue: z.boolean().check(z.describe('True if its source is still known, so that it can be run again.')),
  has_leftovers: z.boolean(),
})

export type ImportRun = z.output<typeof importRunSchema>

const fileName = trimmedText(200)
const address = (description: string) => z._default(trimmedText(2000).check(z.describe(description)), '')

export const startImportBody = z.object({
  address: address(
    'postgres://user:password@host:5432/name or mysql://user:password@host:3306/name. Empty if a file was uploaded.',
  ),
  logs_address: address('The address of the log, if it is in a database of its own.'),
  salt_key: z._default(text(500).check(z.describe("LiteLLM's salt key, with which its channels are sealed.")), ''),
  upload: z._default(
    z
      .string()
      .check(
        z.regex(/^(?:[0-9a-f]{32})?$/, { error: 'must be the id of an uploaded file' }),
        z.describe(
          "The id of the uploaded file: a SQLite database or LiteLLM's config.yaml. The latter may be beside an address.",
        ),
      ),
    '',
  ),
  upload_name: z._default(fileName.check(z.describe('The name of the file, for people.')), ''),
  ...choices,
})

export const importApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/import/',
    access: 'root',
    data: z.array(importRunSchema).check(z.describe('The newest runs, newest first.')),
    summary: 'List the newest 10 imports from other programs',
  }),
  upload: endpoint({
    method: 'POST',
    path: '/api/import/upload',
    access: 'root',
    fileBody: true,
    query: z.object({ name: z._default(fileName.check(z.describe('The name of the file.')), '') }),
    data: z.object({ id: z.string(), name: z.string(), bytes: count, kind: z.enum(['sqlite', 'config']) }),
    summary: "Upload a SQLite database, or LiteLLM's config.yaml, to import from",
    description:
      'The body is the file, at most 512 MiB. It is stored in a temporary file of the server, which is deleted after the import, and after a day at the latest. The next upload replaces it.',
  }),
  start: endpoint({
    method: 'POST',
    path: '/api/import/',
    access: 'root',
    body: startImportBody,
    data: z.object({ id: z.int() }),
    summary: 'Begin an import or a dry run; the response does not wait for it. There is one at a time',
    description:
      'The address is kept, encrypted, until the import has ended, and for a day at most. Only database servers can be read from here, and no file of the server.',
  }),
  again: endpoint({
    method: 'POST',
    path: '/api/import/{id}/again',
    access: 'root',
    params: idParams,
    body: z.object(choices),
    data: z.object({ id: z.int() }),
    summary: 'Run an import again with the same source: after a dry run, or to continue one that ended early',
  }),
  cancel: endpoint({
    method: 'POST',
    path: '/api/import/{id}/cancel',
    access: 'root',
    params: idParams,
    summary: 'Cancel an import. Accounts are imported as a whole or not at all; log rows that are here stay',
  }),
  report: endpoint({
    method: 'GET',
    path: '/api/import/{id}/report',
    access: 'root',
    params: idParams,
    data: z.nullable(importReportSchema),
    summary: 'Get the report of an import; null if there is none',
  }),
  leftovers: mediaEndpoint({
    method: 'GET',
    path: '/api/import/{id}/leftovers',
    access: 'root',
    params: idParams,
    media: 'application/x-ndjson',
    // The download is recorded in the audit log.
    changesState: 'record',
    summary: 'Download what an import left over, as JSON lines',
  }),
}
