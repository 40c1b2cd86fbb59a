import { alertDestinationsKind } from './alert/destinations-kind.ts'
import { alertRulesKind } from './alert/rules-kind.ts'
import { channelCostsKind } from './channel/channel-costs-kind.ts'
import { channelsKind } from './channel/channels-kind.ts'
import { priceFeedsKind } from './channel/price-feeds-kind.ts'
import type { ConfigKind } from './config-kind.ts'
import { optionsKind } from './option/options-kind.ts'
import { tableKinds } from './option/table-kinds.ts'
import { virtualModelsKind } from './virtual-model/virtual-models-kind.ts'

/**
 * The sections of configuration files, in the order in which they are applied. To add a section, add its schema to
 * `contract/config-file.ts` and its kind here.
 */
export const configKinds: readonly ConfigKind[] = [
  optionsKind,
  ...tableKinds,
  channelsKind,
  priceFeedsKind,
  channelCostsKind,
  virtualModelsKind,
  alertDestinationsKind,
  alertRulesKind,
] as readonly ConfigKind[]
