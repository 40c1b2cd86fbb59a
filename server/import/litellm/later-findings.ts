import type { Findings, Leftover } from '../findings.ts'

/**
 * Collects findings while a source is read. The report does not exist at that time, so `tell` adds the findings to it
 * later.
 */
export interface LaterFindings {
  add(kind: string, text: string, example?: string): void
  leave(leftover: Leftover, text: string): void
  tell(findings: Findings): void
}

export function createLaterFindings(): LaterFindings {
  const told: ((findings: Findings) => void)[] = []
  return {
    add: (kind, text, example) => told.push((findings) => findings.add(kind, text, example)),
    leave: (leftover, text) => told.push((findings) => findings.leave(leftover, text)),
    tell: (findings) => {
      for (const each of told) each(findings)
    },
  }
}
