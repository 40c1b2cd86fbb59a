import { type ConfigFile, configVersion } from '../../../contract/config-file.ts'
import type { Db } from '../../store/store.ts'
import type { ConfigDeps, Placeholder } from '../config-kind.ts'
import { configKinds } from '../config-kinds.ts'

/** Omits secrets from an export. */
export const withoutSecrets: Placeholder = () => undefined

/**
 * Writes a reference such as `${OPENAI_MAIN_KEY}` instead of a secret. Two different secrets never get the same name.
 */
export function placeholders(): Placeholder {
  const used = new Map<string, string>()
  return (...words) => {
    const whole = words.join('\0')
    const known = used.get(whole)
    if (known !== undefined) return `\${${known}}`
    const base = words
      .join('_')
      .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
      .toUpperCase()
      .replaceAll(/[^A-Z\d]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
    const name = /^[A-Z]/.test(base) ? base : `SECRET_${base}`.replace(/_$/, '')
    const taken = new Set(used.values())
    let free = name
    for (let count = 2; taken.has(free); count++) free = `${name}_${count}`
    used.set(whole, free)
    return `\${${free}}`
  }
}

/** The configuration of an installation. Throws ConfigFault if the names of channels or rules are not unique. */
export async function exportConfig(db: Db, deps: ConfigDeps, placeholder: Placeholder): Promise<ConfigFile> {
  const file: Record<string, unknown> = { version: configVersion }
  for (const kind of configKinds) {
    const section = await kind.export(db, deps, placeholder)
    if (section !== undefined) file[kind.section] = section
  }
  return file as ConfigFile
}

/** The text of an export. `schemaUrl` is the location of the schema for editors. */
export async function configText(file: ConfigFile, schemaUrl: string): Promise<string> {
  const { stringify } = await import('yaml')
  return `# yaml-language-server: $schema=${schemaUrl}\n${stringify(file, { lineWidth: 120, aliasDuplicateObjects: false })}`
}
