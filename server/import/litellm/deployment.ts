import type { JsonObject } from '../../lib/json.ts'
import { textOf } from '../fields.ts'
import { ImportFailed } from '../import-failed.ts'
import type { Reading } from './reading.ts'
import { looksSealed, openSealed } from './sealed.ts'

/** A deployment, which is LiteLLM's term for an entry in its list of models. */
export interface Deployment {
  id: string
  name: string
  params: JsonObject
  info: JsonObject
  createdAt: number
  isBlocked: boolean
}

/** The decrypted parameters of a deployment, including those of the credential to which it refers. */
export function deployedFields(
  reading: Reading,
  { name, params }: Deployment,
  credentialOf: (name: string) => JsonObject,
): JsonObject {
  const own = clear(reading, params, name)
  const credential = textOf(own['litellm_credential_name'])
  return credential === '' ? own : { ...clear(reading, credentialOf(credential), name), ...own }
}

function clear(reading: Reading, fields: JsonObject, example: string): JsonObject {
  // LiteLLM encrypts either all texts of a deployment or none. A model name in plain text cannot be mistaken for an
  // encrypted text.
  const isSealed = Object.values(fields).some((value) => typeof value === 'string' && looksSealed(value))
  const mark = fields['model']
  const opens = isSealed && (mark === undefined || (typeof mark === 'string' && looksSealed(mark)))
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      if (typeof value !== 'string') return [key, value]
      const plain = opens && looksSealed(value) ? opened(reading, value) : value
      return [key, fromEnvironment(reading, plain, example)]
    }),
  )
}

function opened({ saltKey }: Reading, value: string): string {
  if (saltKey === undefined)
    throw new ImportFailed(
      'The keys of the channels are encrypted. Set LITELLM_SALT_KEY to the salt key of LiteLLM or, if it has none, LITELLM_MASTER_KEY to its master key.',
    )
  const plain = openSealed(value, saltKey)
  if (plain === undefined)
    throw new ImportFailed(
      'The keys of the channels were encrypted with another key. Set LITELLM_SALT_KEY to the salt key that LiteLLM uses; nothing was changed.',
    )
  return plain
}

/** The text itself, or the value of the environment variable to which it refers; '' if that is not set. */
function fromEnvironment({ variable, later }: Reading, value: string, example: string): string {
  if (!value.startsWith('os.environ/')) return value
  const name = value.slice('os.environ/'.length)
  const found = variable(name)
  if (found === undefined)
    later.add(
      'channels',
      'The channel takes a value from the environment that is not set here. Without a key, the channel is disabled.',
      `${example}: ${name}`,
    )
  return found ?? ''
}
