import { authApi } from './auth.ts'
import { channelApi } from './channel.ts'
import { groupApi } from './group.ts'
import { logApi } from './log.ts'
import { optionApi } from './option.ts'
import { statusApi } from './status.ts'
import { tokenApi } from './token.ts'
import { userApi } from './user.ts'

/** Every endpoint of the management API; server, console, wire test and docs walk this table. */
export const api = {
  status: statusApi,
  auth: authApi,
  user: userApi,
  token: tokenApi,
  channel: channelApi,
  log: logApi,
  option: optionApi,
  group: groupApi,
}
