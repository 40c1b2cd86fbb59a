import type { StoredCarries } from '../store/channels/stored-carries.ts'

/** A channel that is not stored: the validated fields that determine where and how it sends a call. */
export interface ChannelDraft {
  type: number
  /** A single key. */
  key: string
  base_url: string
  other: string
  config: string
  models: string
  model_mapping: string
  /** What the channel adds to its requests, with decrypted secrets. */
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
  /** The models that the upstream lists. If there are none, `modelsMessage` has the reason. */
  models: string[]
  modelsMessage: string
}
