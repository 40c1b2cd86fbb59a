import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve, servePublic } from '../../http/serve-endpoint.ts'
import { ConfigFault } from '../config-kind.ts'
import type { ApiDeps } from '../deps.ts'
import { applyConfig } from './apply-config.ts'
import { configText, exportConfig, withoutSecrets } from './export-config.ts'
import { readConfig } from './read-config.ts'
import { resolveSecrets } from './resolve-secrets.ts'
import { configJsonSchema } from './schema.ts'

/**
 * The maximum size of a configuration that is sent to this endpoint. Parsing YAML blocks the process, so the limit is
 * lower than for the command `apply`.
 */
const maxSentBytes = 256 * 1024

/**
 * The whole configuration as one document. Only root may read and write it, because it covers everything that only root
 * may change.
 */
export function mountConfig(
  router: ApiRouter,
  deps: Pick<ApiDeps, 'store' | 'secrets' | 'clock' | 'catalogue' | 'settings' | 'basePath'>,
): void {
  const { store, settings, basePath = '' } = deps

  serve(router, api.config.export, async ({ context }) => {
    const address = settings.current().ServerAddress || `${new URL(context.req.url).origin}${basePath}`
    const file = await inWords(() => exportConfig(store.read, deps, withoutSecrets))
    const text = await configText(file, `${address}${api.config.schema.path}`)
    return new Response(text, { headers: { 'content-type': 'application/yaml; charset=utf-8' } })
  })

  serve(router, api.config.apply, async (call) => {
    const { query, body } = call
    const plan = await inWords(async () => {
      if (body.text.length > maxSentBytes)
        throw new ConfigFault([], 'It is larger than 256 KiB. Use the command apply on the server.')
      const { file, locate } = await readConfig(body.text)
      const work = async () =>
        applyConfig(deps, resolveSecrets(file, undefined), {
          prune: query.prune === 'true',
          dryRun: query.dry_run === 'true',
          actor: call,
          source: `PUT ${api.config.apply.path}`,
          admit: (trx) => call.admitAgain(trx),
        })
      return inWords(work, locate)
    })
    // The next call of the person who applied the file must already use the new options.
    if (plan.applied) await settings.reload()
    return plan
  })

  servePublic(router, api.config.schema, () => configJsonSchema())
}

/** Converts a ConfigFault to an ApiFailure whose message contains the position in the document. */
async function inWords<T>(
  work: () => Promise<T>,
  locate: (path: readonly PropertyKey[]) => string = () => '',
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error
    const at = error.path.length === 0 ? '' : locate(error.path)
    throw new ApiFailure(`The configuration is not valid: ${at}${error.message}`)
  }
}
