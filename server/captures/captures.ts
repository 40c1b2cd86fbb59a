import { join } from 'node:path'
import type { Capture } from '../../contract/api/capture.ts'
import type { CaptureTarget } from '../../contract/capture-targets.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { messageOf } from '../lib/message-of.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { Turns } from '../lib/turns.ts'
import type { MetadataGuard } from '../outbound/metadata-guard.ts'
import type { SettingsSource } from '../settings/settings.ts'
import { addCapture, type CaptureRuleRow, captureOf, forgetCaptures } from '../store/installation/captures.ts'
import type { Store } from '../store/store.ts'
import { type CaptureHead, documentOf, openedDocument, sealedDocument } from './capture-document.ts'
import type { CaptureRules } from './capture-rules.ts'
import { type CaptureFiles, type CaptureStore, captureFiles, captureObjects, type Place } from './capture-store.ts'
import { RecordedElsewhere } from './recorded-elsewhere.ts'
import { type Recorded, Recording } from './recording.ts'
import { sweepCaptures } from './sweep-captures.ts'

/** The data about a call that is needed to record it. */
export interface RecordedCall {
  requestId: string
  userId: number
  tokenId: number
  request: Request
  dialect: string
  /** The caller's token, as the caller sent it. */
  credential: string
}

/** Records the requests that the rules select. */
export interface Captures {
  readonly rules: CaptureRules
  /** False if there are no rules. Checked first for each call, because this check is fast. */
  isRecording(): boolean
  /**
   * Begins to record a call. Returns undefined if no rule can apply to the call, or if too many requests are being
   * recorded.
   */
  begin(call: RecordedCall): Recording | undefined
  /**
   * A recorded request; undefined if the request was not recorded or its recording has been deleted. Throws
   * `RecordedElsewhere` if the recording is a file on another node.
   */
  read(requestId: string): Promise<Capture | undefined>
  /** Tests whether recordings can be stored now. If not, throws an Error whose message says why. */
  testStorage(): Promise<void>
  /** Removes recordings that are too old, and stored objects whose recordings have been deleted. */
  sweep: () => Promise<void>
  /**
   * Starts a sweep without waiting for it. Called after recordings have been deleted, to remove their files
   * immediately.
   */
  sweepSoon(): void
  /** Resolves when all recorded requests have been stored. */
  close(): Promise<void>
}

export interface CaptureDeps {
  store: Store
  settings: SettingsSource
  secrets: Secrets
  clock: Clock
  guard: MetadataGuard
  turns: Turns
  rules: CaptureRules
  dataDir: string
  /** Name of this node's host. */
  host: string
  /** Counts requests that should have been recorded but were not. */
  lost(count: number): void
  warn(message: string): void
}

/** The maximum number of bytes of recordings in progress. Beyond this, calls are not recorded. */
const mostBytes = 256 * 1024 * 1024
const warnEveryMs = 60_000
/**
 * For each recording, memory is reserved for this many bodies of the maximum size: the request and the response, each
 * as exchanged with the caller and with one upstream.
 */
const bodiesPerCall = 4

/** Creates the recorder of this process. */
export function createCaptures(deps: CaptureDeps): Captures {
  return new Recorder(deps)
}

class Recorder implements Captures {
  readonly rules: CaptureRules
  readonly #deps: CaptureDeps
  readonly #files: CaptureFiles
  /** The bytes reserved for recordings that have begun but are not stored yet. */
  #reservedBytes = 0
  #writing: Promise<void> = Promise.resolve()
  #warnedAtMs = Number.NEGATIVE_INFINITY
  #lostSince = 0

  constructor(deps: CaptureDeps) {
    this.#deps = deps
    this.rules = deps.rules
    this.#files = captureFiles(join(deps.dataDir, 'captures'))
  }

  isRecording(): boolean {
    return this.rules.isRecording
  }

  begin(call: RecordedCall): Recording | undefined {
    const running = this.rules.running()
    const ofCaller = running.filter((rule) => isOfCaller(rule, call))
    const ofChannels = running.filter(({ target }) => target === 'channel')
    if (ofCaller.length === 0 && ofChannels.length === 0) return undefined
    const possible = [...ofCaller, ...ofChannels]
    const sizeLimit = Math.min(...possible.map(({ size_limit }) => size_limit))
    const bytes = sizeLimit * bodiesPerCall
    if (this.#reservedBytes + bytes > mostBytes) {
      this.#lose(new Error('too many requests are being recorded at the same time'))
      return undefined
    }
    this.#reservedBytes += bytes
    const done = (recorded: Recorded) => {
      const used = new Set(recorded.attempts.map(({ channel }) => channel.id))
      const rules = [...ofCaller, ...ofChannels.filter(({ target_id }) => used.has(target_id))]
      this.#writing = this.#writing.then(async () => {
        if (rules.length > 0) await this.#keep(call, recorded, rules).catch((error: unknown) => this.#lose(error))
        this.#reservedBytes -= bytes
      })
    }
    const includes = (channelId: number) =>
      ofCaller.length > 0 || ofChannels.some(({ target_id }) => target_id === channelId)
    return new Recording({ sizeLimit, includes, done }, call.request.signal)
  }

  async #keep(call: RecordedCall, recorded: Recorded, rules: readonly CaptureRuleRow[]): Promise<void> {
    const { store, settings, secrets, clock, turns, host } = this.#deps
    const unwanted = {
      redactions: [...new Set(rules.flatMap(({ redactions }) => redactions))],
      keys: [call.credential, ...recorded.attempts.map(({ channel }) => channel.key)],
    }
    const sealed = await sealedDocument(
      await documentOf(headOf(call, epochSeconds(clock)), recorded, unwanted, turns),
      secrets,
    )
    const place = settings.current().CaptureStore as Place
    const row = {
      request_id: call.requestId,
      created_at: epochSeconds(clock),
      user_id: call.userId,
      token_id: call.tokenId,
      rule_id: rules[0]?.id ?? 0,
      place: place === 'files' ? (`files:${host}` as const) : place,
    }
    // The database row is written before the object, because an object without a row would never be deleted.
    if (!(await store.write((trx) => addCapture(trx, row)))) return
    const objects = this.#storeAt(place)
    try {
      await objects.put(call.requestId, sealed)
    } catch (error) {
      await store.write((trx) => forgetCaptures(trx, { request_id: call.requestId }))
      throw error
    }
    // The recording may have been deleted before its object was stored. In that case, remove the object.
    if (!(await captureOf(store.read, call.requestId))) await objects.remove(call.requestId)
  }

  async read(requestId: string): Promise<Capture | undefined> {
    const { store, secrets, host } = this.#deps
    const row = await captureOf(store.read, requestId)
    if (!row) return undefined
    const node = row.place.startsWith('files:') ? row.place.slice('files:'.length) : undefined
    const bytes = await this.#storeAt(row.place === 's3' ? 's3' : 'files').get(requestId)
    // Nodes may share the folder. This node can therefore have the file even if another node wrote it.
    if (!bytes && node !== undefined && node !== host) throw new RecordedElsewhere(node)
    return bytes && openedDocument(bytes, requestId, secrets)
  }

  async testStorage(): Promise<void> {
    const objects = this.#storeAt(this.#deps.settings.current().CaptureStore as Place)
    await objects.put(testId, Buffer.from('test'))
    if ((await objects.get(testId))?.toString() !== 'test') throw new Error('what was stored cannot be read back')
    await objects.remove(testId)
  }

  readonly sweep = (): Promise<void> => {
    const { store, settings, clock } = this.#deps
    return sweepCaptures({ store, settings, clock, files: this.#files, objects: () => this.#storeAt('s3') })
  }

  sweepSoon(): void {
    this.sweep().catch((error: unknown) => this.#deps.warn(`deleted recordings remain for now: ${String(error)}`))
  }

  close(): Promise<void> {
    return this.#writing
  }

  #storeAt(place: Place): CaptureStore {
    const { settings, guard } = this.#deps
    return place === 'files' ? this.#files : captureObjects(settings.current(), guard)
  }

  /** Counts a lost recording, and warns at most once a minute. */
  #lose(error: unknown): void {
    const { clock, lost, warn } = this.#deps
    lost(1)
    this.#lostSince++
    if (clock.nowMs() - this.#warnedAtMs < warnEveryMs) return
    this.#warnedAtMs = clock.nowMs()
    const reason = messageOf(error)
    warn(`${this.#lostSince} requests could not be recorded: ${reason}`)
    this.#lostSince = 0
  }
}

/** An id that no request has, for tests of the storage. */
const testId = '0'.repeat(31)

function isOfCaller({ target, target_id }: { target: CaptureTarget; target_id: number }, call: RecordedCall): boolean {
  return (target === 'user' && target_id === call.userId) || (target === 'token' && target_id === call.tokenId)
}

/** The only headers that are recorded. None of them can be a key or a cookie. */
const recordedHeaders = ['accept', 'anthropic-beta', 'anthropic-version', 'content-type', 'openai-beta', 'user-agent']
const longestHeader = 300

function headOf({ requestId, userId, tokenId, request, dialect }: RecordedCall, now: number): CaptureHead {
  const headers = recordedHeaders.flatMap((name) => {
    const value = request.headers.get(name)
    return value === null ? [] : [{ name, value: value.slice(0, longestHeader) }]
  })
  // Only the path is recorded, because the query may contain a key.
  const path = new URL(request.url).pathname
  return { request_id: requestId, created_at: now, user_id: userId, token_id: tokenId, path, dialect, headers }
}
