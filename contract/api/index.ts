import { alertApi } from './alert.ts'
import { auditApi } from './audit.ts'
import { authApi } from './auth.ts'
import { backupApi } from './backup.ts'
import { budgetApi } from './budget.ts'
import { captureApi } from './capture.ts'
import { channelApi } from './channel.ts'
import { channelCostsApi } from './channel-costs.ts'
import { configApi } from './config.ts'
import { docsApi } from './docs.ts'
import { doctorApi } from './doctor.ts'
import { groupApi } from './group.ts'
import { importApi } from './import.ts'
import { logApi } from './log.ts'
import { logCopyApi } from './log-copy.ts'
import { modelApi } from './model.ts'
import { oauthApi } from './oauth.ts'
import { optionApi } from './option.ts'
import { overviewApi } from './overview.ts'
import { priceApi } from './price.ts'
import { redemptionApi } from './redemption.ts'
import { statementApi } from './statement.ts'
import { statusApi } from './status.ts'
import { statusPageApi } from './status-page.ts'
import { tokenApi } from './token.ts'
import { usageApi } from './usage.ts'
import { usageTableApi } from './usage-table.ts'
import { usageValuesApi } from './usage-values.ts'
import { userApi } from './user.ts'
import { userAccessApi } from './user-access.ts'
import { virtualModelApi } from './virtual-model.ts'

/**
 * Every endpoint of the management API. The server, the console, the wire tests and the docs iterate over this table.
 */
export const api = {
  status: statusApi,
  statusPage: statusPageApi,
  auth: authApi,
  oauth: oauthApi,
  user: { ...userApi, ...userAccessApi },
  token: tokenApi,
  channel: { ...channelApi, ...channelCostsApi },
  log: logApi,
  usage: { ...usageApi, ...usageTableApi, ...usageValuesApi, ...statementApi, ...budgetApi },
  overview: overviewApi,
  option: optionApi,
  config: configApi,
  group: groupApi,
  price: priceApi,
  alert: alertApi,
  model: modelApi,
  virtualModel: virtualModelApi,
  audit: auditApi,
  backup: backupApi,
  logCopy: logCopyApi,
  import: importApi,
  capture: captureApi,
  redemption: redemptionApi,
  doctor: doctorApi,
  docs: docsApi,
}
