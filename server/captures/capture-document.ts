import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Capture, CapturedBody } from '../../contract/api/capture.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import type { Turns } from '../lib/turns.ts'
import { requestTurns, responseTurns } from './conversation.ts'
import type { Collected, Recorded, RecordedAttempt } from './recording.ts'
import { redacted, type Unwanted } from './redact.ts'

/** A body in its stored form: either its text, or its conversation turns without the text. */
type StoredBody = Omit<CapturedBody, 'turns'> & Partial<Pick<CapturedBody, 'turns'>>
type StoredAttempt = Omit<Capture['attempts'][number], 'request' | 'response'> & {
  request: StoredBody
  response: StoredBody
}

/** A recorded request in its stored form. */
export type CaptureDocument = Omit<Capture, 'request' | 'response' | 'attempts'> & {
  request: StoredBody
  response: StoredBody
  attempts: StoredAttempt[]
}

/** The facts about a call, without its bodies. */
export type CaptureHead = Omit<CaptureDocument, 'request' | 'response' | 'attempts' | 'status'>

/** Builds the document of a finished recording, without keys and without the texts to be redacted. */
export async function documentOf(
  head: CaptureHead,
  recorded: Recorded,
  unwanted: Unwanted,
  turns: Turns,
): Promise<CaptureDocument> {
  const body = async (collected: Collected, streamDialect?: string): Promise<StoredBody> => {
    const raw = Buffer.concat(collected.chunks).toString('utf8')
    const { size } = collected
    const truncated = collected.kept < size && collected.kept > 0 && !collected.isSummary
    // A stream may split a word between two events, where a search would not find it. The text to be redacted is
    // therefore searched in the joined text, and only the joined text is stored.
    if (streamDialect !== undefined && unwanted.redactions.length > 0) {
      const joined = await redacted(JSON.stringify(responseTurns(raw, streamDialect)), unwanted, turns)
      return { text: '', size, truncated, turns: parsedTurns(joined) }
    }
    return { text: await redacted(raw, unwanted, turns), size, truncated }
  }
  const attempts: StoredAttempt[] = []
  for (const attempt of recorded.attempts) attempts.push(await attemptOf(attempt, body))
  return {
    ...head,
    status: recorded.status,
    request: await body(recorded.request),
    response: await body(recorded.response, recorded.isStream ? head.dialect : undefined),
    attempts,
  }
}

async function attemptOf(
  { channel, dialect, status, isStream, request, response }: RecordedAttempt,
  body: (collected: Collected, streamDialect?: string) => Promise<StoredBody>,
): Promise<StoredAttempt> {
  return {
    channel_id: channel.id,
    channel_name: channel.name,
    dialect,
    status,
    request: await body(request),
    response: await body(response, isStream ? dialect : undefined),
  }
}

/** A redaction that contains a quote may make JSON invalid. */
function parsedTurns(text: string): CapturedBody['turns'] {
  try {
    return JSON.parse(text) as CapturedBody['turns']
  } catch {
    return []
  }
}

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/**
 * The encryption context of a stored document. It contains the recording's id, so that the document cannot be decrypted
 * under another id.
 */
export const contextOf = (id: string) => `capture ${id}`

/** Compresses and encrypts a document, and binds it to its id. */
export async function sealedDocument(document: CaptureDocument, secrets: Secrets): Promise<Buffer> {
  return secrets.sealBytes(await compress(JSON.stringify(document)), contextOf(document.request_id))
}

/**
 * Decrypts a document and adds the conversation turns of its bodies. Throws if it was encrypted with another key or for
 * another id.
 */
export async function openedDocument(bytes: Uint8Array, id: string, secrets: Secrets): Promise<Capture> {
  const text = (await decompress(secrets.openBytes(bytes, contextOf(id)))).toString('utf8')
  const { attempts, ...document } = JSON.parse(text) as CaptureDocument
  return {
    ...document,
    request: withRequest(document.request, document.dialect),
    response: withResponse(document.response, document.dialect),
    attempts: attempts.map((attempt) => ({
      ...attempt,
      request: withRequest(attempt.request, attempt.dialect),
      response: withResponse(attempt.response, attempt.dialect),
    })),
  }
}

function withRequest(body: StoredBody, dialect: string): CapturedBody {
  return { ...body, turns: requestTurns(body.text, dialect) }
}

function withResponse(body: StoredBody, dialect: string): CapturedBody {
  return { ...body, turns: body.turns ?? responseTurns(body.text, dialect) }
}
