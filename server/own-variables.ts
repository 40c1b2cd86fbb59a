/** Variables of the installation itself. Configuration files must not refer to them. */
export const ownVariables: ReadonlySet<string> = new Set([
  'SECRET_KEY',
  'DATABASE_URL',
  'SQL_DSN',
  'INITIAL_ROOT_PASSWORD',
  'INITIAL_ROOT_TOKEN',
  'INITIAL_ROOT_ACCESS_TOKEN',
  'METRICS_TOKEN',
  'LOG_SINK_URL',
  'TOLLGATE_BACKUP_PASSPHRASE',
  'TOLLGATE_EXPORT_PASSPHRASE',
  'TOLLGATE_NEW_SECRET_KEY',
])
