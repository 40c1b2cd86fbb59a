import type { Finding } from '../../contract/api/import.ts'
import { importTexts } from '../../contract/import-texts.ts'
import { refusalOf } from '../http/refusal-code.ts'
import { codedTexts } from '../lib/coded-texts.ts'

/** A row, or a part of one, without a counterpart here. It is written to a file next to the installation. */
export interface Leftover {
  kind: string
  id: string
  reason: string
  data: unknown
}

const mostExamples = 5

/** Collects what the report says. */
export interface Findings {
  /** Counts a case; `example` names the row. */
  add(kind: string, text: string, example?: string): void
  /** Counts a case and keeps the row for the file. */
  leave(leftover: Leftover, text: string): void
  list(): Finding[]
  /** How many rows were left over. */
  leftovers(): number
}

/** The code of a sentence about an import; undefined if the contract does not have it. */
export const importTextOf = codedTexts(importTexts)

/** The codes of a finding. Why a field was refused has a code of its own. */
function codesOf(text: string): Pick<Finding, 'code' | 'values' | 'reason'> {
  const coded = importTextOf(text)
  if (!coded) return {}
  const reason = refusalOf(coded.values?.['reason'] ?? '')
  return { ...coded, ...(reason && { reason }) }
}

/** `keep` receives each leftover; without it, they are only counted. */
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
