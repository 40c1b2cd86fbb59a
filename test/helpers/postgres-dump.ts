import pg from 'pg'

/** Loads a text dump of pg_dump into a database, without psql. */
export async function loadPostgresDump(url: string, dump: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const lines = dump.split('\n')
    let statement = ''
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at] ?? ''
      if (statement === '' && (line.startsWith('--') || line.startsWith('\\') || line.trim() === '')) continue
      const copied = /^COPY (?<table>\S+) \((?<columns>.*)\) FROM stdin;$/.exec(line)?.groups
      if (copied) {
        const { table = '', columns = '' } = copied
        const count = columns.split(', ').length
        const places = Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
        for (at++; lines[at] !== '\\.'; at++)
          await client.query(
            `insert into ${table} (${columns}) values (${places})`,
            (lines[at] ?? '').split('\t').map(field),
          )
        continue
      }
      statement += `${line}\n`
      if (!line.trimEnd().endsWith(';')) continue
      await client.query(statement)
      statement = ''
    }
  } finally {
    await client.end()
  }
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** A field of COPY's text form. */
function field(text: string): string | null {
  if (text === '\\N') return null
  return text.replace(/\\(.)/g, (_, mark: string) => escapes[mark] ?? mark)
}
