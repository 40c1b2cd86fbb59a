import type { ImportReport, SumLine } from '../../contract/api/import.ts'
import type { Installation } from '../helpers/gateway-process.ts'

/** Runs an import and returns its report. Throws with the output of the command if it failed. */
export async function imported(installation: Installation, ...args: string[]): Promise<ImportReport> {
  const { code, output } = await installation.run('import', ...args, '--json')
  const line = output.split('\n').find((each) => each.startsWith('{'))
  if (line === undefined || code !== 0) throw new Error(output)
  const report = JSON.parse(line) as ImportReport
  const uncoded = report.findings.filter(({ code }) => code === undefined)
  if (uncoded.length > 0) throw new Error(`findings without a code: ${JSON.stringify(uncoded)}`)
  return report
}

/** The line of a sum in a report. */
export const sum = (report: ImportReport, name: string): SumLine | undefined =>
  report.sums.find((each) => each.name === name)
