import type { JsonObject } from '../../lib/json.ts'
import type { SourceRow } from '../sources/source-database.ts'
import type { LaterFindings } from './later-findings.ts'

/** The state that all parts of reading LiteLLM share. */
export interface Reading {
  config: JsonObject
  quotaPerUnit: number
  saltKey: string | undefined
  later: LaterFindings
  budgets: ReadonlyMap<string, SourceRow>
  variable(name: string): string | undefined
  /** The rows of a table. The columns in `times` are returned as epoch seconds. */
  rows(table: string, times: readonly string[]): Promise<SourceRow[]>
}
