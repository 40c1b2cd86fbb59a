import type { LogSinkAddress } from '../lib/log-sink-address.ts'
import { operatorFolder } from '../lib/operator-folder.ts'
import { createClickHouse } from '../outbound/clickhouse.ts'
import { createJsonLinesFolder } from '../outbound/json-lines-folder.ts'
import { createJsonLinesObjects } from '../outbound/json-lines-objects.ts'
import type { LogSink } from '../outbound/log-sink.ts'
import type { MetadataGuard } from '../outbound/metadata-guard.ts'
import { createS3, type S3Place } from '../outbound/s3.ts'
import type { Settings } from '../settings/settings.ts'

/** The destination to which the log is copied. `name` does not contain credentials. */
export type LogCopyPlace = LogSinkAddress | { kind: 's3'; name: string; bucket: S3Place; prefix: string }

/** The configuration and settings that determine the destination. */
export interface LogCopySettings {
  config: { logSink: LogSinkAddress | undefined; logSinkMonths: number; dataDir: string }
  settings: Settings
}

/** The destination from LOG_SINK_URL or, if that is not set, from the settings. Undefined if the log is not copied. */
export function logCopyPlace({ config: { logSink, dataDir }, settings }: LogCopySettings): LogCopyPlace | undefined {
  if (logSink !== undefined) return logSink
  switch (settings.LogCopyPlace) {
    case 's3':
      return objectsOf(settings)
    case 'clickhouse': {
      const url = settings.LogCopyClickHouseURL
      const database = settings.LogCopyClickHouseDatabase
      const login = { user: settings.LogCopyClickHouseUser, password: settings.LogCopyClickHousePassword }
      return { kind: 'clickhouse', name: `${url}/${database}`, url, database, ...login }
    }
    case 'files': {
      const folder = operatorFolder(dataDir, 'LogCopyFolder', settings.LogCopyFolder)
      return { kind: 'folder', name: `file://${folder}`, folder }
    }
    default:
      return undefined
  }
}

function objectsOf(settings: Settings): LogCopyPlace {
  const { S3Endpoint, S3Region, S3Bucket, S3Prefix, S3AccessKeyId, S3SecretAccessKey } = settings
  const prefix = `${S3Prefix === '' ? '' : `${S3Prefix}/`}logs/`
  const key = { accessKeyId: S3AccessKeyId, secretAccessKey: S3SecretAccessKey }
  return {
    ...{ kind: 's3', name: `${S3Endpoint}/${S3Bucket}/${prefix}`, prefix },
    bucket: { endpoint: S3Endpoint, region: S3Region, bucket: S3Bucket, ...key },
  }
}

/** The number of months that the copy keeps in addition to the current one; 0 = all. */
export function logCopyMonths({ config, settings }: LogCopySettings): number {
  return config.logSink === undefined ? settings.LogCopyMonths : config.logSinkMonths
}

/** Creates the client for a destination, without connecting to it. */
export function openLogCopy(place: LogCopyPlace, guard: MetadataGuard, nowMs: () => number): LogSink {
  switch (place.kind) {
    case 's3':
      return createJsonLinesObjects(createS3(place.bucket, guard), place.prefix)
    case 'clickhouse':
      return createClickHouse(place, guard)
    case 'folder':
      return createJsonLinesFolder(place.folder, nowMs)
  }
}
