import type { Finding } from '../../contract/api/import.ts'
import { importTexts } from '../../contract/import-texts.ts'
import { refusalOf } from '../http/refusal-code.ts'
import { codedTexts } from '../lib/coded-texts.ts'

/** A row of the source, or a part of one, that has no counterpart in Tollgate. It is written to the leftovers file. */
export interface Leftover {
  kind: string
  id: string
  reason: string
  data: unknown
}

const mostExamples = 5

/** Collects the findings for the report. */
export interface Findings {
  /** Counts one more occurrence of the message `text`. `example` identifies the row that it is about. */
  add(kind: string, text: string, example?: string): void
  /** Like `add`, and also adds the row to the leftovers file. */
  leave(leftover: Leftover, text: string): void
  list(): Finding[]
  /** The number of leftovers. */
  leftovers(): number
}

/** The code of an import message; undefined if `importTexts` does not contain the message. */
export const importTextOf = codedTexts(importTexts)

/** The codes of a finding. The reason why a field was refused has its own code. */
function codesOf(text: string): Pick<Finding, 'code' | 'values' | 'reason'> {
  const coded = importTextOf(text)
  if (!coded) return {}
  const reason = refusalOf(coded.values?.['reason'] ?? '')
  return { ...coded, ...(reason && { reason }) }
}

/** `keep` is called with each leftover. Without it, leftovers are only counted. */
export function createFindings(keep: (leftover: Leftover) => void = () => undefined): Findings {
  const findings = new Map<string, Finding>()
  let left = 0
  const add = (kind: string, text: string, example?: string) => {
    const finding = findings.get(`${kind} ${text}`) ?? { kind, text, ...codesOf(text), count: 0, examples: [] }
    finding.count++
    if (example !== undefined && finding.examples.length < mostExamples) finding.examples.push(example)
    findings.set(`${kind} ${text}`, finding)
  }
  return {
    add,
    leave(leftover, text) {
      left++
      keep(leftover)
      add(leftover.kind, text, leftover.id)
    },
    list: () => [...findings.values()],
    leftovers: () => left,
  }
}
