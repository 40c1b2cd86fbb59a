import { fetchPlain } from '../lib/network/fetch-plain.ts'
import { runningSignal } from '../lib/running-timer.ts'
import { leadsToMetadata } from './metadata-guard.ts'

const timeoutMs = 10_000

/**
 * Posts a JSON message to a URL that the operator set. Throws an error that describes the failure but does not contain
 * the URL.
 */
export async function postWebhook(url: string, message: Readonly<Record<string, unknown>>): Promise<void> {
  if (await leadsToMetadata(new URL(url).hostname)) throw new Error('it is the metadata service of a cloud')
  let response: Response
  const { signal, end } = runningSignal(timeoutMs)
  try {
    response = await fetchPlain(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
      redirect: 'manual',
      signal,
    })
  } catch (error) {
    // The message does not contain the URL, because the URL may contain a secret.
    throw new Error(`the URL cannot be reached (${(error as NodeJS.ErrnoException).code ?? 'no answer in time'})`)
  } finally {
    end()
  }
  await response.body?.cancel()
  if (!response.ok) throw new Error(`it answered with status ${response.status}`)
}
