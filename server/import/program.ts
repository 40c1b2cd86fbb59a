export type ProgramName = 'one-api' | 'new-api' | 'one-hub' | 'laisky' | 'litellm'

/** The program that made a source. */
export interface Program {
  readonly name: ProgramName
  /** What people call it. */
  readonly title: string
  /** Its version, or '' if the database does not show it. */
  readonly version: string
  /** True if a model without an entry in the stored ModelRatio has no price of its own, because the table is complete. */
  readonly tableIsComplete: boolean
}
