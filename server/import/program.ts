export type ProgramName = 'one-api' | 'new-api' | 'one-hub' | 'laisky' | 'litellm'

/** The program that made a source. */
export interface Program {
  readonly name: ProgramName
  /** The display name. */
  readonly title: string
  /** The version, or '' if the database does not contain it. */
  readonly version: string
  /** True if the stored ModelRatio is complete, so that a model without an entry has no price. */
  readonly tableIsComplete: boolean
}
