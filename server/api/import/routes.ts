import { createReadStream, existsSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { type ImportReport, importReportSchema } from '../../../contract/api/import.ts'
import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import type { ImportChoices, ImportSource } from '../../jobs/import-runs.ts'
import { UploadRefused } from '../../jobs/import-uploads.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { tryParse } from '../../lib/json.ts'
import { isMetadataHost } from '../../lib/network/metadata-address.ts'
import { sourceAddress } from '../../lib/network/source-address.ts'
import { cancelImportRun, type ImportRunRow, importRun, listImportRuns } from '../../store/imports/import-runs.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { isUniqueViolation } from '../../store/statements/database-errors.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

const listed = 10

/** Imports from other gateways. Only root may start one, because an import creates accounts with any role. */
export function mountImports(router: ApiRouter, deps: Pick<ApiDeps, 'store' | 'clock' | 'imports'>): void {
  const { store, clock, imports } = deps

  serve(router, api.import.list, async () => (await listImportRuns(store.read, listed)).map(imports.view))

  serve(router, api.import.upload, async ({ query, context }) => {
    const { raw } = context.req
    try {
      const statedBytes = Number(raw.headers.get('content-length') ?? 0)
      const upload = await imports.uploads.store(raw.body, { statedBytes, idleMs: router.bodyTimeMs() })
      return { ...upload, name: shownName(query.name) }
    } catch (error) {
      if (error instanceof UploadRefused) throw new ApiFailure(error.message, error.status)
      throw error
    }
  })

  serve(router, api.import.start, async (call) => {
    const { address, logs_address, salt_key, upload, upload_name, ...choices } = call.body
    const source = {
      ...{ address, logsAddress: logs_address, saltKey: salt_key },
      ...{ upload, uploadName: upload === '' ? '' : shownName(upload_name) },
    }
    checkSource(source)
    return { id: await begin(call, source, choices) }
  })

  serve(router, api.import.again, async (call) => {
    const row = await existing(call.params.id)
    const source = imports.sourceOf(row)
    if (!source) throw new ApiFailure('The source of this import is no longer known. Enter it again.')
    return { id: await begin(call, source, call.body) }
  })

  serve(router, api.import.cancel, async (call) => {
    const { id } = call.params
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      if (!(await cancelImportRun(trx, id, epochSeconds(clock)))) throw new ApiFailure('This import is not running.')
      await recordAudit(trx, auditEvent(clock, call, 'import.cancel', `import run ${id}`))
    })
    imports.cancel(id)
  })

  serve(router, api.import.report, async ({ params }) => reportOf(await existing(params.id)))

  serve(router, api.import.leftovers, async (call) => {
    const row = await existing(call.params.id)
    const report = reportOf(row)
    const file = report ? imports.leftoversOf(report) : undefined
    if (file === undefined) throw new ApiFailure('This import has no leftovers: everything was imported.')
    if (!existsSync(file)) throw new ApiFailure('The file is on the host that ran the import, or was deleted.')
    await store.write((trx) =>
      recordAudit(trx, auditEvent(clock, call, 'import.read-leftovers', `import run ${row.id}`, basename(file))),
    )
    return new Response(Readable.toWeb(createReadStream(file)) as unknown as ReadableStream, {
      headers: {
        'content-type': 'application/x-ndjson',
        'content-disposition': `attachment; filename="${basename(file)}"`,
      },
    })
  })

  async function existing(id: number): Promise<ImportRunRow> {
    const row = await importRun(store.read, id)
    if (!row) throw new ApiFailure('This import does not exist.')
    return row
  }

  /** Saves the run and its audit row in one transaction, and then lets a node begin the run. */
  async function begin(
    call: PersonCall<typeof api.import.start> | PersonCall<typeof api.import.again>,
    source: ImportSource,
    choices: ImportChoices,
  ): Promise<number> {
    const id = await store
      .write(async (trx) => {
        const { username } = await call.admitAgain(trx)
        const queued = await imports.queue(trx, source, choices, username)
        const detail = [choices.dry_run && 'dry run', choices.merge && 'merge', ...choices.only].filter(Boolean)
        await recordAudit(trx, auditEvent(clock, call, 'import.start', `import run ${queued}`, detail.join(' ')))
        return queued
      })
      .catch((error: unknown) => {
        throw isUniqueViolation(error)
          ? new ApiFailure('An import is running already. Wait until it has ended, or cancel it.')
          : error
      })
    await imports.begin(id)
    return id
  }
}

/**
 * Refuses a source that no node could read. The IP addresses of a host name are checked later, when a node connects.
 */
function checkSource({ address, logsAddress, upload }: ImportSource): void {
  if (address === '' && upload === '') throw new ApiFailure('Enter an address, or upload a file.')
  if (address === '' && logsAddress !== '') throw new ApiFailure('Enter the address of the database as well.')
  for (const text of [address, logsAddress]) {
    if (text === '') continue
    const parsed = sourceAddress(text)
    if ('fault' in parsed) throw new ApiFailure(parsed.fault)
    if (isMetadataHost(parsed.host)) throw new ApiFailure('The address must not be a cloud metadata service.')
  }
}

/** The name of a file for display, without its folder and without control characters, quotes and angle brackets. */
function shownName(name: string): string {
  return [...(name.split(/[\\/]/).at(-1) ?? '')]
    .filter((each) => !/[\p{Cc}\p{Cf}"<>]/u.test(each))
    .join('')
    .slice(0, 100)
    .toWellFormed()
}

function reportOf({ report }: ImportRunRow): ImportReport | null {
  const parsed = importReportSchema.safeParse(tryParse(report))
  return parsed.success ? parsed.data : null
}
