import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely'
import type { Store } from '../../server/store/store.ts'

/** A store whose read queries are recorded. */
export function recording(store: Store): { store: Store; plans(): Promise<string[]> } {
  const nodes: [RootOperationNode, Parameters<KyselyPlugin['transformQuery']>[0]['queryId']][] = []
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      nodes.push([node, queryId])
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return {
    store: { ...store, read: store.read.withPlugin(plugin) },
    async plans() {
      const lines = new Set<string>()
      for (const [node, queryId] of nodes.splice(0)) {
        const { sql, parameters } = store.read.getExecutor().compileQuery(node, queryId)
        for (const line of await planOf(store, sql, parameters)) lines.add(line)
      }
      return [...lines]
    },
  }
}

/** The lines of a query plan that show where the rows come from. */
async function planOf(store: Store, sql: string, parameters: readonly unknown[]): Promise<string[]> {
  const isPostgres = store.dialect === 'postgres'
  const command = isPostgres ? 'explain (costs off)' : 'explain query plan'
  const { rows } = await store.read.executeQuery<{ detail?: string; 'QUERY PLAN'?: string }>(
    CompiledQuery.raw(`${command} ${sql}`, [...parameters]),
  )
  // PostgreSQL adds a number to an alias that occurs several times. The number is removed.
  const lines = rows.map((row) => (row.detail ?? row['QUERY PLAN'] ?? '').trim().replace(/^->\s*|_\d+$/g, ''))
  const reads = isPostgres
    ? /\b(Seq|Index|Bitmap Heap|Bitmap Index)\b.*Scan/
    : /^(SCAN|SEARCH) (s|u|d|l|logs|users|tokens|channels|usage_\w+)\b/
  return lines.filter((line) => reads.test(line))
}
