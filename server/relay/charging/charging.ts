import type { PriceBook } from '../../billing/price-book.ts'
import { GatewayError } from '../../errors.ts'
import type { AnyCall } from '../call/call.ts'
import type { Charging } from './charging-types.ts'
import { imageCharging } from './image-charging.ts'
import { searchCharging, sessionCharging, speechCharging, transcriptionCharging } from './media-charging.ts'
import { TokenCharging } from './token-charging.ts'
import { toolFees } from './tool-fees.ts'

/** Prices a call by the upstream's name for the model. Throws GatewayError (model_not_priced, image errors). */
export function chargingFor(
  call: AnyCall,
  prices: PriceBook,
  model: string,
  channelType: number,
  sliceTokens: number,
): Charging {
  const sheet = prices.sheet(model, channelType)
  if (!sheet) {
    throw new GatewayError('model_not_priced', `model ${model} has no price; ask the administrator to set one`, {
      param: 'model',
    })
  }
  const groupRatio = prices.groupRatio(call.caller.group)
  if (call.mode === 'rerank' && sheet.basis === 'search') return searchCharging(call, sheet, groupRatio)
  switch (call.mode) {
    case 'images':
    case 'image-edits':
    case 'image-variations':
      return imageCharging(call, sheet, groupRatio, model)
    case 'speech':
      return speechCharging(call, sheet, groupRatio)
    case 'transcriptions':
    case 'translations':
      return transcriptionCharging(call, sheet, groupRatio)
    case 'realtime':
      return sessionCharging(sheet, groupRatio, sliceTokens)
    default:
      return new TokenCharging(
        call,
        sheet,
        groupRatio,
        model,
        sliceTokens,
        (tier) => prices.tierRatio(tier, model, channelType),
        toolFees(call, prices, model, channelType),
      )
  }
}
