/** What a recording covers: every request of a user or token, or every request that is sent to a channel. */
export const captureTargets = ['user', 'token', 'channel'] as const
export type CaptureTarget = (typeof captureTargets)[number]
