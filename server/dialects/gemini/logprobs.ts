import type { JsonObject } from '../../lib/json.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'

/** `logprobsResult` of a candidate (Gemini API, "LogprobsResult") in OpenAI's form. */
export function logprobsIn(candidate: JsonObject): JsonObject[] {
  const result = looseObject(candidate['logprobsResult'])
  const steps = looseList(result['topCandidates'])
  return looseList(result['chosenCandidates']).map((chosen, index) => ({
    ...tokenIn(chosen),
    top_logprobs: looseList(steps[index]?.['candidates']).map(tokenIn),
  }))
}

function tokenIn({ token, logProbability }: JsonObject): JsonObject {
  const text = looseText(token)
  return { token: text, logprob: Number(logProbability ?? 0), bytes: [...Buffer.from(text)] }
}

/** The log probabilities of a candidate's text as a field to spread; empty if there are none. */
export function logprobsOut(logprobs: readonly JsonObject[]): { logprobsResult?: JsonObject } {
  if (logprobs.length === 0) return {}
  return {
    logprobsResult: {
      chosenCandidates: logprobs.map(tokenOut),
      topCandidates: logprobs.map((each) => ({ candidates: looseList(each['top_logprobs']).map(tokenOut) })),
    },
  }
}

function tokenOut({ token, logprob }: JsonObject): JsonObject {
  return { token, logProbability: logprob }
}
