import type { StepFailure } from '../../../contract/step-failures.ts'
import type { CostRates } from '../../billing/cost-sheet.ts'
import { type VirtualModelRow, type VirtualParts, virtualParts } from '../../store/channels/virtual-models.ts'
import { costOf } from './channel-cost.ts'

/** A step of a virtual model. It names a real model or another virtual model. */
export interface VirtualStep {
  readonly model: string
  /** The group whose channels serve the step; undefined = the caller's group. */
  readonly group: string | undefined
  /** Adjacent steps with a weight share the calls; 0 = the step does not share its calls. */
  readonly weight: number
  /** The time limit for the first content of a stream; undefined = the channel's limit. */
  readonly firstTokenTimeoutMs: number | undefined
}

/** A virtual model as the relay uses it. */
export interface VirtualModel {
  readonly name: string
  readonly steps: readonly VirtualStep[]
  readonly failures: ReadonlySet<StepFailure>
  /** A fixed price; undefined = the price of the step that answers. */
  readonly price: CostRates | undefined
  /** The groups that may use the model; undefined = all. */
  readonly groups: ReadonlySet<string> | undefined
  readonly isEnabled: boolean
  /** Whether a broken stream is continued; undefined = as set in the options. */
  readonly streamRescue: boolean | undefined
}

/** Virtual models by name. */
export function virtualModelsOf(rows: readonly VirtualModelRow[]): ReadonlyMap<string, VirtualModel> {
  return new Map(rows.map((row) => [row.name, virtualModelOf({ ...row, ...virtualParts(row) })]))
}

/** Creates a virtual model from its stored fields, which are already parsed. */
export function virtualModelOf({
  name,
  enabled,
  stream_rescue: rescue,
  ...parts
}: VirtualParts & Pick<VirtualModelRow, 'name' | 'enabled' | 'stream_rescue'>): VirtualModel {
  const { steps, failures, price, groups } = parts
  const cost = price && costOf(price)
  return {
    name,
    steps: steps.map(({ model, group, weight, first_token_timeout: seconds }) => ({
      model,
      group: group === '' ? undefined : group,
      weight,
      firstTokenTimeoutMs: seconds > 0 ? seconds * 1000 : undefined,
    })),
    failures: new Set(failures),
    price: cost && 'rates' in cost ? cost.rates : undefined,
    groups: groups.length > 0 ? new Set(groups) : undefined,
    isEnabled: Boolean(enabled),
    streamRescue: rescue === null ? undefined : Boolean(rescue),
  }
}
