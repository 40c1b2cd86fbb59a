import type { StoredCarries } from '../store/channels/stored-carries.ts'

/** A channel that is not stored: the fields that decide where it sends a call and how, already validated. */
export interface ChannelDraft {
  type: number
  /** One key. */
  key: string
  base_url: string
  other: string
  config: string
  models: string
  model_mapping: string
  /** What the channel carries, with its secrets readable. */
  carries: StoredCarries
  test_model: string
}

/** The result of a test of a draft. */
export interface DraftReport {
  ok: boolean
  timeMs: number
  /** The tested model. */
  model: string
  /** Why the test failed; empty if it passed. */
  message: string
  /** The models that the upstream lists; if it lists none, the message says why. */
  models: string[]
  modelsMessage: string
}
