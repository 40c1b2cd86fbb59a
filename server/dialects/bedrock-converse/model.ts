import { type ModelTraits as ClaudeTraits, modelTraits as claudeTraits } from '../models/claude-model.ts'

/**
 * The features that a model on Bedrock supports, derived from its id (Bedrock user guide, "Supported models and model
 * features").
 */
export interface ModelTraits {
  readonly isClaude: boolean
  readonly isNova: boolean
  /** True for Nova 2, whose thinking is controlled by an effort level. */
  readonly novaThinks: boolean
  /** True for OpenAI's open-weight models, which have their own field for the effort level. */
  readonly isGptOss: boolean
  /** True if the model supports cache points. */
  readonly caches: boolean
  /** True if the model accepts a status in tool results. */
  readonly resultStatus: boolean
  readonly claude: ClaudeTraits
}

/** Reads the family of a model from its id, which may be part of an inference profile or an ARN. */
export function modelTraits(model: string): ModelTraits {
  const isClaude = model.includes('claude')
  const isNova = model.includes('amazon.nova')
  return {
    isClaude,
    isNova,
    novaThinks: /amazon\.nova-2/.test(model),
    isGptOss: model.includes('gpt-oss'),
    caches: isClaude || isNova,
    resultStatus: isClaude || isNova,
    claude: claudeTraits(model),
  }
}
