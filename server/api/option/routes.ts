import { api } from '../../../contract/api/index.ts'
import type { OptionDefinitionEntry } from '../../../contract/api/option.ts'
import type { OptionDefinition } from '../../../contract/option-kinds.ts'
import { optionSections } from '../../../contract/option-sections.ts'
import { isOptionKey, type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { mayAccess } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { languageOf, type MailLanguage } from '../../mails/texts.ts'
import { latestRelease } from '../../outbound/release-feed.ts'
import { openOption } from '../../settings/secret-options.ts'
import { userById } from '../../store/accounts/users.ts'
import { servedModels } from '../../store/channels/served-models.ts'
import { type OptionRow, optionRows } from '../../store/installation/options.ts'
import { askOutside } from '../ask-outside.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { modelPrices } from './model-prices.ts'
import { optionText } from './option-text.ts'
import { writeOption } from './save-option.ts'

const definitions: Readonly<Record<OptionKey, OptionDefinition>> = optionDefinitions

/** The options of the installation, as stored text. */
export function mountOptions(
  router: ApiRouter,
  {
    store,
    settings,
    clock,
    secrets,
    mailer,
    version,
    warn,
    announce,
  }: Pick<ApiDeps, 'store' | 'settings' | 'clock' | 'secrets' | 'mailer' | 'version' | 'warn'> & { announce: Announce },
): void {
  serve(router, api.option.list, async () => {
    const stored = new Map((await optionRows(store.read)).map((row) => [row.key, row.value]))
    return (Object.keys(definitions) as OptionKey[])
      .filter((key) => !definitions[key].secret)
      .map((key) => ({ key, value: stored.get(key) ?? definitions[key].default }))
  })

  serve(router, api.option.definitions, () => {
    const now = settings.current()
    return (Object.keys(definitions) as OptionKey[]).map((key) => definitionEntry(key, now[key] !== ''))
  })

  serve(router, api.option.update, async (call) => {
    const { key } = call.body
    // One-api's consoles send this option. Tollgate ignores it, because it has no selectable themes.
    if (key === 'Theme') return
    if (!isOptionKey(key)) throw new ApiFailure(`There is no option ${key}.`)
    const definition = definitions[key]
    const refuseOthers = ({ role }: { role: number }) => {
      if (!mayAccess(role, definition.writer)) throw new ApiFailure('Only super admins can change this option.')
    }
    refuseOthers(call.person)
    const value = optionText(key, String(call.body.value))
    await store.write(async (trx) => {
      refuseOthers(await call.admitAgain(trx))
      const stored = new Map((await optionRows(trx)).map((row) => [row.key, row]))
      const current = (other: OptionKey) => storedText(secrets, stored.get(other)) ?? definitions[other].default
      await writeOption(trx, { secrets, clock }, call, { key, value, before: current(key), after: current })
    })
    // The announcement makes all other nodes reload their settings soon. This node reloads immediately, so that the
    // next request of the person who saved the option uses the new value.
    await announce({ topic: 'settings', id: 0 })
    await settings.reload()
  })

  serve(router, api.option.prices, async () => modelPrices(settings.current(), await servedModels(store.read)))

  serve(router, api.option.latestRelease, async () => {
    const feed = settings.current().UpdateFeedURL
    if (feed === '') throw new ApiFailure('Set UpdateFeedURL first.')
    return { version, ...(await askOutside(warn, latestRelease(feed))) }
  })

  serve(router, api.option.testMail, async (call) => {
    if (!mailer.ready()) throw new ApiFailure('Set SMTPServer and SMTPFrom (or SMTPAccount) first.')
    const to = call.body.email || (await userById(store.read, call.person.id))?.email
    if (!to) throw new ApiFailure('Enter an email address, or connect one to your account.')
    const language = languageOf(
      call.context.req.header('accept-language'),
      settings.current().MailLanguage as MailLanguage,
    )
    try {
      await mailer.send(to, language, ({ texts, name }) => texts.test(name))
    } catch (error) {
      throw new ApiFailure(`The email was not sent: ${messageOf(error)}`)
    }
  })
}

function definitionEntry(key: OptionKey, isSet: boolean): OptionDefinitionEntry {
  const { choices, secret, ...definition } = definitions[key]
  const { tab, title } = optionSections[definition.section]
  return {
    key,
    ...definition,
    ...(choices && { choices: [...choices] }),
    secret: secret === true,
    ...(secret && { is_set: isSet }),
    section_title: title,
    tab,
  }
}

/** The stored text of an option. Undefined if the option has its default or its value cannot be decrypted. */
function storedText(secrets: Secrets, row: OptionRow | undefined): string | undefined {
  try {
    return row && openOption(secrets, row)
  } catch {
    return undefined
  }
}
