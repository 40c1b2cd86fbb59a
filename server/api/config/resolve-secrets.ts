import { type ConfigFile, configOptionKeys, type SecretText } from '../../../contract/config-file.ts'
import type { OptionDefinition } from '../../../contract/option-kinds.ts'
import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { messageOf } from '../../lib/message-of.ts'
import { ConfigFault } from '../config-kind.ts'

/**
 * Resolves references to environment variables and files. If one does not exist, throws an error whose message is a
 * sentence.
 */
export interface References {
  environment(name: string): string
  file(path: string): string
}

const definitions: Readonly<Record<OptionKey, OptionDefinition>> = optionDefinitions

/**
 * Replaces the references in the secrets of a file. Without `references`, every reference is refused. The error lists
 * everything that is missing. Throws ConfigFault.
 */
export function resolveSecrets(file: ConfigFile, references: References | undefined): ConfigFile {
  const faults: { path: PropertyKey[]; message: string }[] = []
  const resolve = (value: SecretText, path: PropertyKey[]): string => {
    try {
      return resolved(value, references)
    } catch (error) {
      faults.push({ path, message: messageOf(error) })
      return ''
    }
  }
  const options = file.options && { ...file.options }
  for (const key of configOptionKeys)
    if (options?.[key] !== undefined && definitions[key].secret)
      options[key] = resolve(options[key] as SecretText, ['options', key])
  const channels = file.channels?.map((channel, index) => {
    const { key, keys, headers, proxy_login, ...rest } = channel
    const at = (...path: PropertyKey[]) => ['channels', index, ...path]
    return {
      ...rest,
      ...(key !== undefined && { key: resolve(key, at('key')) }),
      ...(keys && { keys: keys.map((each, place) => resolve(each, at('keys', place))) }),
      ...(headers && {
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, resolve(value, at('headers', name))]),
        ),
      }),
      ...(proxy_login !== undefined && { proxy_login: resolve(proxy_login, at('proxy_login')) }),
    }
  })
  const destinations = file.alert_destinations?.map(({ name, kind, ...parts }, index) => ({
    name,
    kind,
    ...Object.fromEntries(
      Object.entries(parts).flatMap(([part, value]) =>
        value === undefined ? [] : [[part, resolve(value, ['alert_destinations', index, part])]],
      ),
    ),
  }))
  const feeds =
    file.price_feeds &&
    Object.fromEntries(
      Object.entries(file.price_feeds).map(([name, { url, ...rest }]) => [
        name,
        { ...rest, ...(url !== undefined && { url: resolve(url, ['price_feeds', name, 'url']) }) },
      ]),
    )
  const [first] = faults
  if (first) throw new ConfigFault(first.path, [...new Set(faults.map(({ message }) => message))].join(' '))
  return {
    ...file,
    ...(options && { options }),
    ...(channels && { channels }),
    ...(feeds && { price_feeds: feeds }),
    ...(destinations && { alert_destinations: destinations }),
  }
}

const reference = /\$(\$?)\{([^}]*)\}/g

function resolved(value: SecretText, references: References | undefined): string {
  if (typeof value !== 'string') {
    if (!references) throw new Error('A reference to a file is not allowed here. Send the value.')
    return references.file(value.file)
  }
  return value.replaceAll(reference, (whole, escaped: string, name: string) => {
    if (escaped !== '') return whole.slice(1)
    if (!references) throw new Error('A reference to the environment is not allowed here. Send the value.')
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`\${${name.slice(0, 100)}} is not the name of a variable.`)
    return references.environment(name)
  })
}
