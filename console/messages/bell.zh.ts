import type { Translation } from './namespaces.ts'

export const bellZh = {
  'bell.none': '没有新通知。',
  'bell.markRead': '全部标为已读',
  'bell.unread': '未读',
  'bell.attention': '需要关注',
  'bell.account': '你的账户',
  'bell.events': '最近事件',
  'bell.allEvents': '查看全部事件',
  'bell.notice': '公告',
  'bell.noBalance': '余额已用完，充值前请求会被拒绝。',
  'bell.lowBalance': '余额约可用 {days, number} 天。',
  'bell.expired': '此令牌已过期。',
  'bell.exhausted': '此令牌的额度已用尽。',
  'bell.item.channel_off': '已自动停用：{reason}',
  'bell.item.channel_failing': '{count} 次请求中 {failed} 次失败（{share}）',
  'bell.item.channel_cooling': '暂时跳过：{reason}',
  'bell.item.model_no_route': '{count, number} 次请求被拒绝：分组“{reason}”没有已启用的渠道',
  'bell.item.model_no_price': '{count, number} 次请求被拒绝：未设置价格',
  'bell.item.balance_low': '上游余额 {amount}，近 7 天消耗 {limit}',
  'bell.item.person_no_quota': '{count, number} 次请求被拒绝，剩余 {amount}',
  'bell.item.spend_jump': '今日消耗 {amount}，平日约 {limit}',
} as const satisfies Translation<'bell'>
