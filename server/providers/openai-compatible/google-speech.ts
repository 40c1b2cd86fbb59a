import { soundIn, speechRequest } from '../../dialects/gemini/speech.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { fetchPlain } from '../../lib/network/fetch-plain.ts'
import type { ModeEndpoint, OpenContext, Target } from '../provider.ts'

/** The speech endpoint of Google's models, without its URL. */
export const googleSpeech: Omit<ModeEndpoint, 'target'> = {
  translation: { request: speechRequest, reply: (answer) => answer },
  open,
}

/** Makes the call and returns the raw audio, which the upstream sends inside a JSON object. */
async function open(target: Target, body: string, { signal, proxy }: OpenContext): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...target.headers }
  const response = await fetchPlain(target.url, { method: 'POST', headers, body, signal, redirect: 'manual', proxy })
  if (!response.ok) return response
  const answer = tryParse(await response.text())
  const sound = isObject(answer) ? soundIn(answer) : undefined
  if (sound) return sound
  return Response.json({ error: { message: 'the model generated no audio', type: 'upstream_error' } }, { status: 502 })
}
