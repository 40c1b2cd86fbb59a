// Reads the reports of "bun test".

// biome-ignore lint/suspicious/noControlCharactersInRegex: the output is coloured on a terminal
const uncoloured = (output) => output.replace(/\u001b\[[0-9;]*m/g, '')

/**
 * The counts from the summary at the end of the output. If the exit code reports a failure, it takes precedence, so
 * that a failure is never lost.
 */
export function tally(output, code) {
  const plain = uncoloured(output)
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

/** The sums of several runs, with a note for each run that went wrong. Such a run never counts as a success. */
export function tallyAll(runs) {
  const counts = runs.map(({ output, code, signal }) => ({ ...tally(output, code), signal }))
  const sum = (of) => counts.reduce((total, count) => total + count[of], 0)
  const notes = counts.flatMap(({ note, signal }) => (note ? [signal ? `${note} (${signal})` : note] : []))
  return { passed: sum('passed'), failed: sum('failed'), notes }
}

const testFile = /^\S+\.test\.tsx?:$/
const result = /^\((?:pass|fail|skip|todo)\) /

/** Each failed test, with its file and at most 60 lines of output between the previous test's result and its own. */
export function failures(output) {
  const found = []
  let file = ''
  let since = []
  for (const line of uncoloured(output).split('\n')) {
    since.push(line)
    if (testFile.test(line)) file = line
    if (line.startsWith('(fail) ')) found.push([file, ...since.slice(-60)].join('\n'))
    if (result.test(line) || testFile.test(line)) since = []
    // After the last file, bun prints each failed test once more.
    if (/^\d+ tests? failed:$/.test(line)) break
  }
  return found
}

const entities = { '&#10;': ' ', '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" }
const attribute = (tag, name) =>
  new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]?.replace(/&#?\w+;/g, (entity) => entities[entity] ?? entity) ?? ''

/** The skipped tests. Their names contain the reasons, because the report has no other field for them. */
export function skippedTests(junit) {
  return [...junit.matchAll(/(<testcase [^>]*>)\s*<skipped/g)].map(([, tag]) => {
    const group = attribute(tag, 'classname')
    return `${attribute(tag, 'file')}: ${group ? `${group} > ` : ''}${attribute(tag, 'name')}`
  })
}
