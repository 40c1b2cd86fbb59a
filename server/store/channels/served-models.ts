import { isObject, tryParse } from '../../lib/json.ts'
import { splitList } from '../../lib/split-list.ts'
import type { Db } from '../store.ts'

/** A model name that channels send upstream, the type of one of these channels, and the number of these channels. */
export interface ServedModel {
  model: string
  channelType: number
  channels: number
}

/** Every model of every channel under its upstream name, sorted. */
export async function servedModels(db: Db): Promise<ServedModel[]> {
  const rows = await db.selectFrom('channels').select(['type', 'models', 'model_mapping']).orderBy('id').execute()
  const models = new Map<string, ServedModel>()
  for (const row of rows) {
    const parsed = row.model_mapping === '' ? {} : tryParse(row.model_mapping)
    const mapping = isObject(parsed) ? parsed : {}
    const upstream = splitList(row.models).map((model) => {
      const mapped = Object.hasOwn(mapping, model) ? mapping[model] : undefined
      return typeof mapped === 'string' && mapped !== '' ? mapped : model
    })
    for (const model of new Set(upstream)) {
      const known = models.get(model)
      if (known) known.channels++
      else models.set(model, { model, channelType: row.type, channels: 1 })
    }
  }
  return [...models.values()].sort((a, b) => (a.model < b.model ? -1 : 1))
}
