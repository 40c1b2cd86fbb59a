export interface CsvFile {
  name: string
  lines: AsyncGenerator<string>
  /** The name of the exported data, for the log. */
  what: string
  /** Called once, when the last byte has been sent, the reader has disconnected or the database has failed. */
  ended(): void
  warn(message: string): void
}

/**
 * A response with a CSV file whose lines are produced only as fast as they are read. If the reader disconnects, no more
 * lines are produced. If the database fails, the connection is aborted, so that an incomplete file does not look
 * complete.
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
