import { ApiFailure } from '../http/api-failure.ts'
import { isSolved } from '../outbound/turnstile.ts'
import { askOutside } from './ask-outside.ts'
import type { ApiDeps } from './deps.ts'

/**
 * Throws ApiFailure unless `answer` is a valid answer to the bot check. The provider verifies each answer, and accepts
 * it only once.
 */
export type BotCheck = (answer: string | undefined, clientAddress: string) => Promise<void>

export function createBotCheck({ settings, warn }: Pick<ApiDeps, 'settings' | 'warn'>): BotCheck {
  return async (answer = '', clientAddress) => {
    const now = settings.current()
    if (!now.TurnstileCheckEnabled) return
    if (now.TurnstileSecretKey === '') {
      throw new ApiFailure('The bot check is on, but the administrator has not set its secret key.')
    }
    if (answer === '') throw new ApiFailure('The response of the bot check is missing.')
    // A valid answer is at most 2048 characters long. The limit prevents callers from making the gateway send longer
    // texts to the provider.
    const solved =
      answer.length <= 2048 &&
      (await askOutside(
        warn,
        isSolved({ address: now.TurnstileVerifyURL, secret: now.TurnstileSecretKey }, answer, clientAddress),
      ))
    if (!solved) throw new ApiFailure('The bot check failed. Reload the page and try again.')
  }
}
