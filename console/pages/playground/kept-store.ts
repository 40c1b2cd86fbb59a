import type { Settings } from './parameters.ts'
import type { Extras } from './request.ts'
import type { Turn } from './turns.ts'

/** The data that the list shows about a kept conversation. */
export interface KeptHead {
  id: number
  /** The user who kept the conversation. Several people may use the same browser. */
  user: number
  title: string
  /** Epoch milliseconds of the last change. */
  changedAt: number
  models: readonly string[]
}

/** A kept conversation, with the settings that it last used. */
export interface KeptBody {
  id: number
  turns: readonly Turn[]
  settings: readonly Settings[]
  extras: Extras
}

// Heads and bodies are stored separately, because a body with images can have many megabytes.
const stores = ['heads', 'bodies'] as const

type Store = (typeof stores)[number]

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, fail) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => fail(request.error ?? new Error('the database of the browser failed'))
  })
}

let opened: Promise<IDBDatabase> | undefined

function database(): Promise<IDBDatabase> {
  opened ??= (async () => {
    const request = indexedDB.open('tollgate.playground', 1)
    request.onupgradeneeded = () => {
      for (const store of stores) request.result.createObjectStore(store, { keyPath: 'id' })
    }
    const db = await done(request)
    // Another tab may run a newer version of the console, which must not wait for this one.
    db.onversionchange = () => {
      db.close()
      opened = undefined
    }
    return db
  })()
  opened.catch(() => {
    opened = undefined
  })
  return opened
}

/** Runs changes as one transaction; resolves when they are stored. */
async function change(run: (store: (name: Store) => IDBObjectStore) => void): Promise<void> {
  const transaction = (await database()).transaction([...stores], 'readwrite')
  run((name) => transaction.objectStore(name))
  await new Promise<void>((resolve, fail) => {
    transaction.oncomplete = () => resolve()
    const failed = () => fail(transaction.error ?? new Error('the browser did not store the conversation'))
    transaction.onerror = failed
    transaction.onabort = failed
  })
}

async function readable(store: Store): Promise<IDBObjectStore> {
  return (await database()).transaction(store, 'readonly').objectStore(store)
}

/** The conversations of a user, newest first. */
export async function listKept(user: number): Promise<KeptHead[]> {
  const all = (await done((await readable('heads')).getAll())) as KeptHead[]
  return all.filter((head) => head.user === user).sort((one, other) => other.changedAt - one.changedAt)
}

/** One conversation; undefined if it has been deleted. */
export async function readKept(id: number): Promise<KeptBody | undefined> {
  return (await done((await readable('bodies')).get(id))) as KeptBody | undefined
}

/** The head of one conversation; undefined if it has been deleted. */
export async function readHead(id: number): Promise<KeptHead | undefined> {
  return (await done((await readable('heads')).get(id))) as KeptHead | undefined
}

/** Stores a conversation, or its changes. */
export function writeKept(head: KeptHead, body: KeptBody): Promise<void> {
  return change((store) => {
    store('heads').put(head)
    store('bodies').put(body)
  })
}

/** Gives a conversation another title. */
export function renameKept(head: KeptHead, title: string): Promise<void> {
  return change((store) => store('heads').put({ ...head, title }))
}

/** Deletes conversations. */
export function deleteKept(ids: readonly number[]): Promise<void> {
  return change((store) => {
    for (const id of ids) for (const name of stores) store(name).delete(id)
  })
}
