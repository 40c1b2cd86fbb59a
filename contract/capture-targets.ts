/** What a recording can be for: every request of a user or a token, or every request that is sent to a channel. */
export const captureTargets = ['user', 'token', 'channel'] as const
export type CaptureTarget = (typeof captureTargets)[number]
