import { bool, secret, section, text } from './option-kinds.ts'

/** Options for data outside the database: recordings, backups, the copy of the log, and the object store. */
export const storageOptions = {
  ...section('recording', {
    CaptureStore: {
      kind: 'choice',
      default: 'files',
      choices: ['files', 's3'],
      writer: 'root',
      description:
        'Where recorded requests are stored, compressed and encrypted. files: in the data folder of the node that served the request. s3: in the object store.',
    },
    CaptureRetentionDays: {
      kind: 'integer',
      default: '7',
      min: 1,
      max: 365,
      unit: 'days',
      writer: 'root',
      description: 'Recorded requests older than this are deleted.',
    },
  }),
  ...section('backup', {
    BackupStore: {
      kind: 'choice',
      default: 'off',
      choices: ['off', 'files', 's3'],
      writer: 'root',
      description:
        'Where scheduled backups are written. off: nowhere. files: to BackupFolder on the node that makes the backup. s3: to the object store.',
    },
    BackupPassphrase: secret(
      'Scheduled backups are encrypted with this passphrase. Keep it in another place, too: nobody can restore a backup without it.',
    ),
    BackupFolder: text(
      'root',
      'Folder for the files: a name in the data folder, or an absolute path. A disk of its own is best.',
      'backups',
    ),
    BackupEveryHours: {
      kind: 'integer',
      default: '24',
      min: 1,
      max: 744,
      writer: 'root',
      description: 'Hours between two backups.',
    },
    BackupHour: {
      kind: 'integer',
      default: '3',
      min: 0,
      max: 23,
      writer: 'root',
      description: 'Hour of the day (UTC) from which the hours between backups are counted.',
    },
    BackupKeep: {
      kind: 'integer',
      default: '7',
      min: 1,
      max: 1000,
      writer: 'root',
      description: 'How many backups are kept. Older ones are deleted after a new one has been written.',
    },
    BackupIncludesKey: bool(
      false,
      'root',
      'Put the secret key in scheduled backups, so that a new machine needs nothing but the backup and its passphrase.',
    ),
  }),
  ...section('log-copy', {
    LogCopyPlace: {
      kind: 'choice',
      default: 'off',
      choices: ['off', 's3', 'clickhouse', 'files'],
      writer: 'root',
      description:
        'Where log rows are copied to. off: nowhere. s3: as compressed JSON lines to the object store. clickhouse: to a table of ClickHouse. files: as JSON lines to LogCopyFolder on the node that copies. LOG_SINK_URL overrides it.',
    },
    LogCopyClickHouseURL: text('root', 'URL of the HTTP interface of ClickHouse, such as http://clickhouse:8123.'),
    LogCopyClickHouseDatabase: text('root', 'Database of ClickHouse.', 'default'),
    LogCopyClickHouseUser: text('root', 'User of ClickHouse; empty means no login.'),
    LogCopyClickHousePassword: secret('Password of the user of ClickHouse.'),
    LogCopyFolder: text('root', 'Folder for the files: a name in the data folder, or an absolute path.', 'log-copy'),
    LogCopyMonths: {
      kind: 'integer',
      default: '0',
      min: 0,
      max: 1200,
      writer: 'root',
      description:
        'Months that the copy keeps besides the current one. 0 = all. Not for the object store: give the bucket a lifecycle rule.',
    },
  }),
  ...section('storage', {
    S3Endpoint: text('root', 'URL of an S3-compatible object store, without the bucket.'),
    S3Region: text('root', 'Region of the object store.', 'us-east-1'),
    S3Bucket: text('root', 'Name of the bucket.'),
    S3Prefix: text('root', 'Folder in the bucket; empty means the bucket itself.'),
    S3AccessKeyId: text('root', 'Id of the access key to the object store.'),
    S3SecretAccessKey: secret('Secret of the access key to the object store.'),
  }),
} as const
