export interface CsvFile {
  name: string
  lines: AsyncGenerator<string>
  /** What is exported, for the log. */
  what: string
  /** Called once, when the last byte has been sent, the reader has disconnected or the database has failed. */
  ended(): void
  warn(message: string): void
}

/**
 * Text as a CSV file that is produced as fast as it is read. If the reader disconnects, the work ends. If the database
 * fails, the transfer breaks off instead of ending normally.
 */
export function csvResponse({ name, lines, what, ended, warn }: CsvFile): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await lines.next()
          if (!done) {
            controller.enqueue(encoder.encode(value))
            return
          }
        } catch (error) {
          ended()
          warn(`an export of ${what} broke off: ${String(error)}`)
          throw error
        }
        ended()
        controller.close()
      },
      async cancel() {
        ended()
        await lines.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
  return new Response(body, {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
    },
  })
}
