import type { PriceList } from '../../../contract/api/price.ts'
import { type PriceSheet, ratioOne } from '../../billing/price.ts'
import { pricesOf } from '../../billing/price-list.ts'
import type { RelayDeps } from '../call/deps.ts'
import { mappedModel } from '../routing/routing-table.ts'

/** The prices that the relay would charge a token of a group now, whose owner is in `userGroup`, from the same routes and the same price book. */
export function priceList(
  group: string,
  { routing, prices }: Pick<RelayDeps, 'routing' | 'prices'>,
  userGroup?: string,
): PriceList {
  const [table, book] = [routing(), prices()]
  const ratio = book.groupRatio(group, userGroup)
  return {
    group,
    ratio: Number(ratio) / Number(ratioOne),
    models: table.models(group).map((model) => {
      let [renamed, unpriced] = [false, false]
      // A thousand channels may share a few price sheets, so the slow work is done once per sheet.
      const sheets = new Set<PriceSheet>()
      for (const { channel } of table.candidates(group, model)) {
        const upstream = mappedModel(channel, model)
        renamed ||= upstream !== model
        const sheet = book.sheet(upstream, channel.type)
        if (sheet) sheets.add(sheet)
        else unpriced = true
      }
      return { model, prices: pricesOf(sheets, ratio), unpriced, renamed }
    }),
  }
}
