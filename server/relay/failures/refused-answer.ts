import { GatewayError } from '../../errors.ts'
import { AttemptFailed } from './retry-policy.ts'

/** A whole response in which the model refuses, or which a filter emptied, for which another model shall be asked. */
export class RefusedAnswer extends AttemptFailed {
  readonly exit: 'refusal' | 'content_filter'

  constructor(exit: RefusedAnswer['exit'], status: number) {
    const message = exit === 'refusal' ? 'the model refused to answer' : 'the response was filtered'
    const error = new GatewayError('bad_response_body', message)
    super(error, { retry: false, upstreamFault: false, disable: undefined }, status)
    this.exit = exit
  }
}
