/**
 * The names by which to look up a model in a table, the most exact first. They are the name itself, and then the name
 * without its fine-tune suffix, without its region, and without trailing dates and words that do not affect the price.
 */
export function* nameCandidates(name: string): Generator<string> {
  yield name
  const roots = [name]
  if (name.startsWith('ft:')) roots.push(name.split(':').slice(0, 2).join(':'))
  if (regionPrefix.test(name)) roots.push(name.replace(regionPrefix, ''))
  if (/(?:^|\.)anthropic\.claude-/.test(name)) roots.push(name.slice(name.indexOf('claude-')))
  for (const root of roots) {
    if (root !== name) yield root
    let rest = root
    for (let shorter = withoutSnapshot(rest); shorter !== rest; shorter = withoutSnapshot(rest)) {
      rest = shorter
      yield rest
    }
  }
}

/**
 * Matches the region of a cross-region inference profile: "us.anthropic.claude-…" is priced as "anthropic.claude-…" if
 * it has no separate price.
 */
const regionPrefix = /^(?:us|eu|ap|apac|jp|au|ca|sa|us-gov|global)\.(?=[a-z0-9-]+\.)/

/**
 * A date or build number (three or more digits, or a year with a day or month before or after it) or a word that names
 * a release state.
 */
const snapshotTail =
  /(?:[-@:.](?:latest|preview|exp|experimental|beta|thinking|stable|default|original|v\d+(?::\d+)?|\d{3,8}|20\d\d-\d\d-\d\d|\d\d-20\d\d|\d\d-\d\d))$/

function withoutSnapshot(name: string): string {
  const shorter = name.replace(snapshotTail, '')
  return shorter === '' ? name : shorter
}
