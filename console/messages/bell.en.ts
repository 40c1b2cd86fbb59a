/** Texts of the panel of the bell. */
export const bellEn = {
  'bell.none': 'You’re all caught up.',
  'bell.markRead': 'Mark all as read',
  'bell.unread': 'Unread',
  'bell.attention': 'Needs attention',
  'bell.account': 'Your account',
  'bell.events': 'Recent events',
  'bell.allEvents': 'View all events',
  'bell.notice': 'Notice',
  'bell.noBalance': 'Your balance is used up. Requests are rejected until you top up.',
  'bell.lowBalance':
    '{days, plural, one {Your balance runs out in about a day.} other {Your balance runs out in about # days.}}',
  'bell.expired': 'This token has expired.',
  'bell.exhausted': 'This token has used up its quota.',
  'bell.item.channel_off': 'Disabled automatically: {reason}',
  'bell.item.channel_failing': '{failed} of {count} requests failed ({share})',
  'bell.item.channel_cooling': 'Skipped for a while: {reason}',
  'bell.item.model_no_route':
    '{count, plural, one {# request} other {# requests}} rejected: no enabled channel for group "{reason}"',
  'bell.item.model_no_price': '{count, plural, one {# request} other {# requests}} rejected: no price is set',
  'bell.item.balance_low': '{amount} left at the provider; {limit} spent in 7 days',
  'bell.item.person_no_quota': '{count, plural, one {# request} other {# requests}} rejected with {amount} left',
  'bell.item.spend_jump': 'Spent {amount} today; usually {limit} a day',
} as const
