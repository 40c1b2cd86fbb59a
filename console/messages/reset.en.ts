/** Texts of the two pages for a forgotten password. */
export const resetEn = {
  'reset.title': 'password reset',
  'reset.text': "Enter your account's email address, and we'll send you a link to reset your password.",
  'reset.email': 'Email address',
  'reset.submit': 'Send reset email',
  'reset.wait': 'retry ({seconds})',
  'reset.done': 'reset email sent successfully, please check your mailbox!',
  'reset.done.text':
    "If an account uses this address, the email is on its way. The link works once and expires soon. If it doesn't arrive, check your spam folder or try again.",
  'reset.back': 'Back to login',
  'reset.confirm.title': 'password reset confirmation',
  'reset.confirm.text': 'You will get a new password. Your old password stops working, and all open sessions end.',
  'reset.confirm.submit': 'Reset password',
  'reset.confirm.password': 'new password',
  'reset.confirm.copied': 'new password copied to clipboard: {password}',
  'reset.confirm.made': "This is your new password. Save it now: you won't see it again.",
  'reset.confirm.login': 'Log in',
  'reset.confirm.dead': 'This link is incomplete',
  'reset.confirm.dead.text': 'Open the link from the email again, or request a new one.',
  'reset.confirm.again': 'Request a new link',
} as const
