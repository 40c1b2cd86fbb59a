import { queryOptions } from '@tanstack/react-query'
import type * as z from 'zod/mini'
import { type ImportRun, importApi, type startImportBody } from '../../../contract/api/import.ts'
import { addressOf, CallError, call, showFailure, translated } from '../../lib/call.ts'
import { queryClient } from '../../lib/query-client.ts'
import { loadAreas, text } from '../../lib/text.ts'

const whileRunningMs = 1000

export const isActive = ({ state }: ImportRun) => state === 'queued' || state === 'running'

/** The newest imports. The list is reloaded every second while any import is running, wherever it was started. */
export const importsQuery = queryOptions({
  queryKey: ['imports'],
  queryFn: ({ signal }) => call(importApi.list, {}, { signal, quiet: true }),
  refetchInterval: ({ state }) => (state.data?.[0] && isActive(state.data[0]) ? whileRunningMs : false),
})

/** The report of an import that has ended. */
export const reportQuery = (id: number) =>
  queryOptions({
    queryKey: ['imports', 'report', id],
    queryFn: ({ signal }) => call(importApi.report, { params: { id } }, { signal, quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
  })

export type StartBody = z.input<typeof startImportBody>

const reload = () => queryClient.invalidateQueries({ queryKey: ['imports'], exact: true })

export async function startImport(body: StartBody): Promise<void> {
  await call(importApi.start, { body })
  await reload()
}

/** Runs an import again with its source. */
export async function runAgain({ id, merge, only, since }: ImportRun, dry_run: boolean): Promise<void> {
  await call(importApi.again, { params: { id }, body: { dry_run, merge, only, since } })
  await reload()
}

export async function cancelImport(id: number): Promise<void> {
  await call(importApi.cancel, { params: { id } })
  await reload()
}

/** Uploads a file, and returns its id and name on the server. An error is shown and thrown. */
export async function uploadFile(file: File): Promise<{ id: string; name: string }> {
  const query = { name: file.name.slice(0, 200) }
  try {
    const response = await fetch(addressOf(importApi.upload, { query }), {
      method: 'POST',
      credentials: 'same-origin',
      headers: { accept: 'application/json', 'content-type': 'application/octet-stream' },
      body: file,
    })
    const answer: unknown = await response.json().catch(() => undefined)
    if (isUploaded(answer)) return answer.data
    await loadAreas(['refusal']).catch(() => undefined)
    const refused = (answer ?? {}) as { message?: string }
    throw new CallError('refused', translated(refused) ?? refused.message ?? text('error.answer'), response.status)
  } catch (error) {
    const failure = error instanceof CallError ? error : new CallError('network', text('error.network'))
    showFailure(failure)
    throw failure
  }
}

function isUploaded(answer: unknown): answer is { data: { id: string; name: string } } {
  return typeof answer === 'object' && answer !== null && 'success' in answer && answer.success === true
}
