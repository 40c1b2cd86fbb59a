import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { readAtMost } from '../lib/bytes/read-at-most.ts'
import { fetchPlain } from '../lib/network/fetch-plain.ts'
import { runningSignal } from '../lib/running-timer.ts'
import type { MetadataGuard } from './metadata-guard.ts'

/** Where the bucket of an S3-compatible store is, and with which key it is used. */
export interface S3Place {
  /** URL of the store, without the bucket. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
}

/** The objects of a bucket. Every failure is an Error whose message says what failed, without keys. */
export interface S3 {
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Undefined if there is no such object. */
  get(key: string, mostBytes: number): Promise<Buffer | undefined>
  /** Succeeds if there is no such object. */
  remove(key: string): Promise<void>
}

const timeoutMs = 30_000
const errorBytes = 16 * 1024

/** A client for one bucket, addressed by path, which every S3-compatible store understands. */
export function createS3(place: S3Place, guard: MetadataGuard): S3 {
  async function ask<Result>(
    method: 'PUT' | 'GET' | 'DELETE',
    key: string,
    body: Uint8Array | undefined,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const url = `${place.endpoint}/${encodeURIComponent(place.bucket)}/${key.split('/').map(encodeURIComponent).join('/')}`
    const { signal, end } = runningSignal(timeoutMs)
    try {
      await guard.check(url)
      const signed = await new AwsV4Signer({
        ...place,
        service: 's3',
        method,
        url,
        // The body is signed, too, because the endpoint may be reached without TLS.
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
        // A redirect could lead anywhere, with a valid signature.
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

/** A failure of the store, in words for an operator. */
class S3Error extends Error {}

async function succeeded(response: Response): Promise<void> {
  if (!response.ok) await refused(response)
  await response.body?.cancel()
}

/** 404 has two meanings: the object is missing, or the bucket. */
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
