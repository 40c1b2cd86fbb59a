import { type Status, statusApi } from '../../contract/api/status.ts'
import { call } from './call.ts'
import { observable, useObservable } from './observable.ts'
import { readStored, readStoredJson, writeStored } from './storage.ts'
import { loadAreas, text } from './text.ts'
import { toast } from './toast.ts'

/** The known facts about the server: the stored status document until the new one has loaded. Fields may be missing. */
export type KnownStatus = Partial<Status>

function stored(): KnownStatus {
  const value = readStoredJson('status')
  const known = typeof value === 'object' && value !== null ? (value as KnownStatus) : {}
  return { ...known, system_name: readStored('system_name') ?? known.system_name ?? 'Tollgate' }
}

const current = observable<KnownStatus>(stored())
/** Whether the new document has loaded. */
const loaded = observable<'loading' | 'fresh' | 'failed'>('loading')

/** The status document, with the fields that are known so far. */
export function serverStatus(): KnownStatus {
  return current.get()
}

/** Like `serverStatus`, for components, which render again when it changes. */
export function useServerStatus(): KnownStatus {
  return useObservable(current)
}

/** The loading state of this visit's status document. */
export function useStatusState(): 'loading' | 'fresh' | 'failed' {
  return useObservable(loaded)
}

/**
 * Whether the server has more endpoints than the console's specification. Only such a server reports whether
 * registration is open.
 */
export function hasMoreCalls({ register_enabled }: KnownStatus): boolean {
  return register_enabled !== undefined
}

/** True for a server that has only the endpoints of the console's specification, such as one-api. */
export function isClassicServer(): boolean {
  return loaded.get() === 'fresh' && !hasMoreCalls(current.get())
}

/** Like `isClassicServer`, for components, which render again when it changes. */
export function useClassicServer(): boolean {
  useServerStatus()
  useStatusState()
  return isClassicServer()
}

/** Loads the status document and stores it for the next visit. Shows an error if it cannot be loaded. */
export async function loadStatus(): Promise<void> {
  loaded.set('loading')
  try {
    const status = await call(statusApi.status, {}, { quiet: true })
    keep(status)
    current.set(status)
    loaded.set('fresh')
    await noticeNewVersion(status.version)
  } catch {
    loaded.set('failed')
    toast.error(text('error.status'))
  }
}

/**
 * Offers to reload the page if the server has a different version. This happens if the page stayed open while the
 * server was upgraded.
 */
async function noticeNewVersion(version: string): Promise<void> {
  if (!version || version === consoleVersion) return
  await loadAreas(['common'])
  toast.notice(text('app.newVersion', { version }), {
    id: 'new-version',
    action: { label: text('app.reload'), run: () => location.reload() },
  })
}

function keep(status: Status): void {
  writeStored('status', JSON.stringify(status))
  for (const key of ['system_name', 'logo', 'footer_html', 'quota_per_unit', 'display_in_currency'] as const)
    writeStored(key, String(status[key] ?? ''))
  writeStored('chat_link', status.chat_link || undefined)
}
