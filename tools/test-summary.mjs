// Reads the reports of "bun test".

/** The counts from the summary at the end of the output. The exit code has the last word: a failure is never lost. */
export function tally(output, code) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output is coloured on a terminal
  const plain = output.replace(/\u001b\[[0-9;]*m/g, '')
  const [block = ''] = plain.match(/(?:^ *\d+ [^\n]*\n)+^Ran \d+ tests? across \d+ files?/gm)?.slice(-1) ?? []
  const count = (word) => Number(new RegExp(`^ *(\\d+) ${word}$`, 'm').exec(block)?.[1] ?? 0)
  const finished = block !== ''
  const passed = finished ? count('pass') : 0
  const failed = finished ? count('fail') : 0
  if (!finished) return { passed, failed: 1, note: 'The run ended without a summary: no test matched, or it crashed.' }
  if (code !== 0 && failed === 0) return { passed, failed: 1, note: 'The run failed outside of any test.' }
  if (passed + failed === 0) return { passed, failed, note: 'No test ran.' }
  return { passed, failed }
}

/** The sums of several runs, and a note for each run that went wrong; such a run is never a success. */
export function tallyAll(runs) {
  const counts = runs.map(({ output, code, signal }) => ({ ...tally(output, code), signal }))
  const sum = (of) => counts.reduce((total, count) => total + count[of], 0)
  const notes = counts.flatMap(({ note, signal }) => (note ? [signal ? `${note} (${signal})` : note] : []))
  return { passed: sum('passed'), failed: sum('failed'), notes }
}

const entities = { '&#10;': ' ', '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" }
const attribute = (tag, name) =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]?.replace(/&#?\w+;/g, (entity) => entities[entity] ?? entity) ?? ''

/** A skipped test gives the reason in its name, because the report has no other field for it. */
export function skippedTests(junit) {
  return [...junit.matchAll(/(<testcase [^>]*>)\s*<skipped/g)].map(([, tag]) => {
    const group = attribute(tag, 'classname')
    return `${attribute(tag, 'file')}: ${group ? `${group} > ` : ''}${attribute(tag, 'name')}`
  })
}
