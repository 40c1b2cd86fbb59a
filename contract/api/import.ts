import * as z from 'zod/mini'
import { endpoint, idParams, mediaEndpoint } from './endpoint.ts'
import { text, trimmedText } from './fields.ts'

/** The parts of a source that can be imported. */
export const importParts = ['users', 'tokens', 'channels', 'codes', 'options', 'logs'] as const
export type ImportPart = (typeof importParts)[number]

/** How large an uploaded file may be. Larger databases are imported on the command line. */
export const mostUploadBytes = 512 * 1024 * 1024

const count = (description: string) => z.int().check(z.describe(description))

/**
 * A sum in the source and in this installation. They are equal once the stated corrections are added to the source's
 * sum.
 */
const sumLine = z.object({
  name: z.string().check(z.describe('What is added up, such as the balances of users.')),
  there: count('The sum in the source.'),
  corrected: count('The correction to the sum of the source that results from `findings`.'),
  here: count('The sum in this installation.'),
})

export type SumLine = z.output<typeof sumLine>

/** Values for the placeholders in a sentence. */
const values = z.record(z.string(), z.string())

/** Something that could not be imported unchanged, and what the import did with it. */
const finding = z.object({
  kind: z.string().check(z.describe('The kind of data that the finding is about.')),
  text: z.string().check(z.describe('A whole sentence in English: what was found, and what happens to it.')),
  code: z.optional(
    z
      .string()
      .check(
        z.describe(
          'The code of the sentence. In later versions, the code stays the same, but the sentence may change.',
        ),
      ),
  ),
  values: z.optional(values.check(z.describe('The values in the sentence.'))),
  reason: z
    .optional(z.object({ code: z.string(), values: z.optional(values) }))
    .check(
      z.describe(
        'If the sentence contains a refusal of the management API as the value `reason`: the code of the refusal.',
      ),
    ),
  count: count('How often this was found.'),
  examples: z.array(z.string()).check(z.describe('The first rows for which this was found.')),
})

export type Finding = z.output<typeof finding>

/** What a model costs in the source and in this installation, in currency units per million tokens or per call. */
const priceRow = z.object({
  model: z.string().check(z.describe('The name of the model and, if it differs, the name that is sent upstream.')),
  theirs: z.string().check(z.describe('The price in the source.')),
  ours: z.string().check(z.describe('The price in this installation.')),
  differs: z
    .optional(z.boolean())
    .check(z.describe('True if the two prices differ. Absent if the database does not show what the program charges.')),
})

export type PriceRow = z.output<typeof priceRow>

/** What an import did or, in a dry run, would do. */
export const importReportSchema = z.object({
  program: z.string().check(z.describe('The program that made the source.')),
  version: z.string().check(z.describe('Version of the program; empty if the database does not show it.')),
  source: z.string().check(z.describe('Where the source is, without its password.')),
  dryRun: z.boolean().check(z.describe('True if nothing was changed.')),
  mode: z
    .enum(['empty', 'new', 'merge', 'again'])
    .check(
      z.describe(
        'empty: ids are kept. new: the installation is empty, but ids cannot be kept. merge: rows get new ids. again: an earlier import is continued.',
      ),
    ),
  added: z
    .object({
      users: count('Users.'),
      tokens: count('Tokens.'),
      channels: count('Channels.'),
      codes: count('Redemption codes.'),
      logs: count('Log rows.'),
    })
    .check(z.describe('How many rows are new.')),
  sums: z.array(sumLine).check(z.describe('Sums over the source, compared with those over this installation.')),
  options: z
    .array(
      z.object({
        key: z.string().check(z.describe('The option.')),
        from: z.string().check(z.describe('The old value of the option, shortened.')),
        to: z.string().check(z.describe('The new value of the option, shortened. Secrets are not shown.')),
      }),
    )
    .check(z.describe('Options that change.')),
  prices: z.array(priceRow).check(z.describe('The prices of the models of the imported channels.')),
  findings: z.array(finding).check(z.describe('Differences from the source.')),
  leftoversFile: z.string().check(z.describe('The file of leftovers; empty if there is none.')),
  leftovers: count(
    'How many entries have no counterpart in this installation and were written to the file of leftovers.',
  ),
  changedMeanwhile: z
    .boolean()
    .check(z.describe('True if the source was written to while it was read: another run imports the rest.')),
  openCharges: z
    .optional(count('Charges of the log that the source has not settled yet.'))
    .check(
      z.describe(
        'How many charges the source has not settled yet. A later run imports them and the log rows after them.',
      ),
    ),
  seconds: z.number().check(z.describe('Duration of the import in seconds.')),
})

export type ImportReport = z.output<typeof importReportSchema>

export const importStates = ['queued', 'running', 'done', 'failed', 'cancelled', 'interrupted'] as const
export type ImportState = (typeof importStates)[number]
export const importStages = ['', 'accounts', 'logs', 'usage'] as const

const time = (description: string) => z.int().check(z.describe(description))

/** The choices for an import. */
const choices = {
  dry_run: z.boolean().check(z.describe('Only show what would happen, without changing anything.')),
  merge: z._default(z.boolean().check(z.describe('Import in addition to the existing data, with new ids.')), false),
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
  state: z
    .enum(importStates)
    .check(z.describe('interrupted: the server process ended during the import, which can be continued.')),
  dry_run: z.boolean().check(z.describe('True for a dry run, which changes nothing.')),
  source: z.string().check(z.describe('Where the source is, without its password, or the name of the file.')),
  merge: z.boolean().check(z.describe('True if the data is imported in addition to the existing data.')),
  only: z.array(z.enum(importParts)).check(z.describe('The parts that are imported; empty = all.')),
  since: time('Only log rows from this time on; 0 = all.'),
  started_by: z.string().check(z.describe('The name of the person who started the import, or `command line`.')),
  created_at: time('Epoch seconds.'),
  finished_at: time('Epoch seconds; 0 while it runs.'),
  stage: z.enum(importStages).check(z.describe('What the import is doing.')),
  done: count('Log rows that are done.'),
  total: count('Total number of log rows to process; 0 if the stage processes none.'),
  per_second: count('Rows per second since the stage began.'),
  error: z.string().check(z.describe('Why the import failed: a sentence that says what to do.')),
  error_code: z.optional(z.string().check(z.describe('The code of the sentence, if it has one.'))),
  error_values: z.optional(values.check(z.describe('The values in the sentence.'))),
  can_continue: z
    .boolean()
    .check(
      z.describe('True if the address or file of the source is still stored, so that the import can be run again.'),
    ),
  has_leftovers: z.boolean().check(z.describe('True if there is a file of leftovers to download.')),
})

export type ImportRun = z.output<typeof importRunSchema>

const fileName = trimmedText(200)
const address = (description: string) => z._default(trimmedText(2000).check(z.describe(description)), '')

export const startImportBody = z.object({
  address: address(
    'postgres://user:password@host:5432/name or mysql://user:password@host:3306/name. Empty if a file was uploaded.',
  ),
  logs_address: address('The address of the database of the log, if the log is in a separate database.'),
  salt_key: z._default(text(500).check(z.describe("LiteLLM's salt key, with which its channels are encrypted.")), ''),
  upload: z._default(
    z
      .string()
      .check(
        z.regex(/^(?:[0-9a-f]{32})?$/, { error: 'must be the id of an uploaded file' }),
        z.describe(
          "The id of an uploaded file: a SQLite database or LiteLLM's config.yaml. A config.yaml can be used alone or together with the `address` of a database.",
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
    data: z.object({
      id: z.string().check(z.describe('The id of the file, for the field `upload` of an import.')),
      name: z.string().check(z.describe('The name of the file as it is shown.')),
      bytes: count('Size of the file.'),
      kind: z.enum(['sqlite', 'config']).check(z.describe('The kind of the file, as recognised by its content.')),
    }),
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
    summary: 'Start an import or a dry run; only one can run at a time, and the response does not wait for its end',
    description:
      'The address is stored, encrypted, until the import has ended, but for a day at most. It must be the address of a database server; a file of this server cannot be imported with this call.',
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
    summary:
      'Cancel an import. Accounts are imported as a whole or not at all; log rows that have already been imported stay',
  }),
  report: endpoint({
    method: 'GET',
    path: '/api/import/{id}/report',
    access: 'root',
    params: idParams,
    data: z.nullable(importReportSchema),
    summary: 'Get the report of an import; `data` is null if there is none',
  }),
  leftovers: mediaEndpoint({
    method: 'GET',
    path: '/api/import/{id}/leftovers',
    access: 'root',
    params: idParams,
    media: 'application/x-ndjson',
    // The download is recorded in the audit log.
    changesState: 'record',
    summary: 'Download the leftovers of an import (data without a counterpart here) as JSON lines',
  }),
}
