// All combinations of a wire format that can stream and a caller's dialect.
import type { CallerDialect } from '../../../contract/relay-paths.ts'
import type { Provider } from '../../../server/providers/provider.ts'
import { providers } from '../../../server/providers/registry.ts'
import { callerNames } from './callers.ts'
import { failureIn } from './failures.ts'
import type { Fake, Said } from './fakes/fake.ts'
import { fakeOf } from './fakes/index.ts'
import { lackOf, scenarios } from './features.ts'
import type { Learned } from './learned.ts'
import { endpointOf, type Variant, variantsOf } from './variants.ts'

/** A fake service, and the dialect of its caller. */
export interface StreamedCase {
  provider: Provider
  variant: Variant
  caller: CallerDialect
  fake: Fake
  /** The name of the service's dialect. */
  dialect: string
  said: Said
}

const cases = providers
  .flatMap((provider) => variantsOf(provider).map((variant) => ({ provider, variant })))
  .flatMap(({ provider, variant }) => callerNames.flatMap((caller) => caseOf(provider, variant, caller)))
/** Services that share a format appear once. */
export const streamedCases: readonly StreamedCase[] = cases.filter(
  ({ fake, caller }, at) => cases.findIndex((each) => each.fake === fake && each.caller === caller) === at,
)

function caseOf(provider: Provider, variant: Variant, caller: CallerDialect): StreamedCase[] {
  const endpoint = endpointOf(provider, variant, caller)
  if (!endpoint) return []
  const fake = fakeOf(provider.meta.name, endpoint.dialect.name)
  const { calls } = scenarios['parallel tools'].said
  const canCall = !endpoint.lacks?.includes(lackOf.tools ?? 'tools')
  const most = fake.cannot?.['parallel tools'] === undefined ? calls.length : 1
  const { text } = scenarios.plain.said
  const thought = fake.cannot?.reasoning === undefined ? scenarios.reasoning.said.thought : ''
  return [
    {
      provider,
      variant,
      caller,
      fake,
      dialect: endpoint.dialect.name,
      said: { text, thought, calls: canCall ? calls.slice(0, most) : [] },
    },
  ]
}

/** Whether the service uses WebSockets. */
export const usesSockets = ({ provider }: StreamedCase) => provider.meta.name === 'xunfei'

/** The call of a case as a stream, and the complete answer to it. */
export function streamedCall({ variant, said }: StreamedCase) {
  const asked = {
    model: variant.model,
    text: scenarios.plain.asked.text,
    stream: true,
    ...(said.calls.length > 0 && { tools: ['look_up'] }),
  }
  const whole = { text: said.text, thought: said.thought, calls: said.calls.map(({ name, input }) => [name, input]) }
  return { asked, whole }
}

/**
 * What a caller received from a call, with the same fields as `whole`, or the failure that was reported to the caller.
 */
export function outcomeOf(answer: Promise<Learned>) {
  return answer.then(
    ({ text, thought, calls }) => ({ text, thought, calls: calls.map(({ name, input }) => [name, input]) }),
    failureIn,
  )
}
