import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { readAtMost } from '../lib/bytes/read-at-most.ts'
import { fetchPlain } from '../lib/network/fetch-plain.ts'
import { runningSignal } from '../lib/running-timer.ts'
import type { MetadataGuard } from './metadata-guard.ts'

/** The location of a bucket in an S3-compatible store, and the key to access it. */
export interface S3Place {
  /** URL of the store, without the bucket. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
}

/** Access to the objects of a bucket. Every failure is an Error whose message says what failed and contains no keys. */
export interface S3 {
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Stores any number of bytes without keeping them all in memory. Returns their number. */
  upload(key: string, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /** Returns undefined if there is no such object. */
  get(key: string, mostBytes: number): Promise<Buffer | undefined>
  /** Also succeeds if there is no such object. */
  remove(key: string): Promise<void>
}

const timeoutMs = 30_000
/** The time limit for one part of a large object, which may take longer than other requests. */
const partTimeoutMs = 300_000
const errorBytes = 16 * 1024

/**
 * Creates a client for one bucket. The bucket is part of the URL's path, because every S3-compatible store supports
 * that.
 */
export function createS3(place: S3Place, guard: MetadataGuard): S3 {
  async function ask<Result>(
    method: Method,
    key: string,
    body: Uint8Array | undefined,
    read: (response: Response) => Promise<Result>,
    query = '',
  ): Promise<Result> {
    const path = `${encodeURIComponent(place.bucket)}/${key.split('/').map(encodeURIComponent).join('/')}`
    const url = `${place.endpoint}/${path}${query}`
    const { signal, end } = runningSignal(method === 'PUT' && query !== '' ? partTimeoutMs : timeoutMs)
    try {
      await guard.check(url)
      const signed = await new AwsV4Signer({
        ...place,
        service: 's3',
        method,
        url,
        // The signature also covers the body, because the endpoint may be used without TLS.
        headers: {
          'x-amz-content-sha256': createHash('sha256')
            .update(body ?? '')
            .digest('hex'),
        },
      }).sign()
      const response = await fetchPlain(signed.url.toString(), {
        method,
        headers: Object.fromEntries(signed.headers),
        signal,
        // Redirects are not followed, because they could lead to any server, with a valid signature.
        redirect: 'manual',
        ...(body && { body: body as Uint8Array<ArrayBuffer> }),
      })
      return await read(response)
    } catch (error) {
      if (error instanceof S3Error) throw error
      if (signal.aborted) throw new S3Error('the object store did not respond in time')
      const code = (error as NodeJS.ErrnoException).code
      throw new S3Error(`the object store cannot be reached${code ? ` (${code})` : ''}`, { cause: error })
    } finally {
      end()
    }
  }
  return {
    upload: (key, bytes) => uploadInParts(ask, key, bytes),
    put: (key, bytes) => ask('PUT', key, bytes, (response) => succeeded(response)),
    get: (key, mostBytes) =>
      ask('GET', key, undefined, async (response) => {
        if (response.status === 404) return noObject(response)
        if (response.status !== 200) await refused(response)
        return readAtMost(response.body, mostBytes, () => new S3Error('the object is too large'))
      }),
    remove: (key) =>
      ask('DELETE', key, undefined, async (response) => {
        if (response.status === 404) await noObject(response)
        else await succeeded(response)
      }),
  }
}

type Method = 'PUT' | 'GET' | 'DELETE' | 'POST'

/** Sends one signed request. `query` begins with "?". */
type Ask = <Result>(
  method: Method,
  key: string,
  body: Uint8Array | undefined,
  read: (response: Response) => Promise<Result>,
  query?: string,
) => Promise<Result>

/** A failure of the store, with a message for operators. */
class S3Error extends Error {}

async function succeeded(response: Response): Promise<void> {
  if (!response.ok) await refused(response)
  await response.body?.cancel()
}

/**
 * Returns undefined for a 404 that means that the object is missing. Throws if the bucket is missing, which is also a
 * 404.
 */
async function noObject(response: Response): Promise<undefined> {
  if ((await errorCode(response)) === 'NoSuchBucket') throw new S3Error('the object store has no such bucket')
  return undefined
}

async function refused(response: Response): Promise<never> {
  const code = await errorCode(response)
  throw new S3Error(`the object store responded with status ${response.status}${code ? ` (${code})` : ''}`)
}

/** The code of an error response ("Amazon S3 API Reference", Error responses). */
async function errorCode(response: Response): Promise<string> {
  const text = await readAtMost(response.body, errorBytes, () => new S3Error('too long')).catch(() => '')
  return /<Code>(\w{1,60})<\/Code>/.exec(text.toString())?.[1] ?? ''
}

/** Bytes per part. A store accepts at most 10,000 parts, and every part except the last must have at least 5 MiB. */
const partBytes = 8 * 1024 * 1024

/**
 * Uploads an object in parts ("Amazon S3 API Reference", CreateMultipartUpload). A short object is sent in one request.
 */
async function uploadInParts(ask: Ask, key: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  let uploadId: string | undefined
  const tags: string[] = []
  let total = 0
  const send = async (part: Buffer) => {
    uploadId ??= await ask('POST', key, undefined, uploadIdIn, '?uploads=')
    const query = `?partNumber=${tags.length + 1}&uploadId=${encodeURIComponent(uploadId)}`
    tags.push(await ask('PUT', key, part, tagOf, query))
  }
  try {
    let pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of bytes) {
      pieces.push(piece)
      size += piece.length
      total += piece.length
      if (size < partBytes) continue
      await send(Buffer.concat(pieces))
      pieces = []
      size = 0
    }
    const rest = Buffer.concat(pieces)
    if (uploadId === undefined) await ask('PUT', key, rest, succeeded)
    else {
      if (rest.length > 0) await send(rest)
      await ask('POST', key, completion(tags), completed, `?uploadId=${encodeURIComponent(uploadId)}`)
    }
    return total
  } catch (error) {
    // Without this request, the parts of the failed upload would remain in the store. They are not listed, but the
    // operator pays for them.
    if (uploadId !== undefined)
      await ask('DELETE', key, undefined, succeeded, `?uploadId=${encodeURIComponent(uploadId)}`).catch(() => undefined)
    throw error
  }
}

async function uploadIdIn(response: Response): Promise<string> {
  if (!response.ok) await refused(response)
  const text = await readAtMost(response.body, errorBytes, () => new S3Error('the response is too long'))
  const id = /<UploadId>([^<]{1,1024})<\/UploadId>/.exec(text.toString())?.[1]
  if (id === undefined) throw new S3Error('the object store did not begin the upload')
  return id
}

async function tagOf(response: Response): Promise<string> {
  await succeeded(response)
  const tag = response.headers.get('etag')
  if (tag === null) throw new S3Error('the object store did not confirm a part of the upload')
  return tag
}

function completion(tags: readonly string[]): Buffer {
  const parts = tags.map((tag, at) => {
    const text = tag.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
    return `<Part><PartNumber>${at + 1}</PartNumber><ETag>${text}</ETag></Part>`
  })
  return Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
}

/** Checks the response to the completion of an upload, because a store may report its failure with status 200. */
async function completed(response: Response): Promise<void> {
  if (!response.ok) await refused(response)
  const text = (await readAtMost(response.body, errorBytes, () => new S3Error('the response is too long'))).toString()
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1]
  if (code !== undefined) throw new S3Error(`the object store did not complete the upload (${code})`)
}
