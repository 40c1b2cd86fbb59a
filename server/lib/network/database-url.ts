/** True for a PostgreSQL URL. Any other text is the path of a SQLite file. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url)
}
