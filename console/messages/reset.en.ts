/** Texts of the two pages for a forgotten password. */
export const resetEn = {
  'reset.title': 'password reset',
  'reset.text': 'Enter the e-mail address of your account. We send you a link for a new password.',
  'reset.email': 'E-mail address',
  'reset.submit': 'Send reset mail',
  'reset.wait': 'retry ({seconds})',
  'reset.done': 'reset email sent successfully, please check your mailbox!',
  'reset.done.text':
    'If an account has this address, the mail is on its way. The link in it works once and for a short time. Nothing there? Look among the unwanted mail, or try again.',
  'reset.back': 'Back to log in',
  'reset.confirm.title': 'password reset confirmation',
  'reset.confirm.text': 'A new password will be made. The old one and all open sessions end.',
  'reset.confirm.submit': 'Reset the password',
  'reset.confirm.password': 'new password',
  'reset.confirm.copied': 'new password copied to clipboard: {password}',
  'reset.confirm.made': 'Your new password. Keep it now: it is not shown again.',
  'reset.confirm.login': 'Log in now',
  'reset.confirm.dead': 'This link is not complete',
  'reset.confirm.dead.text': 'Open the link of the mail again, or ask for a new one.',
  'reset.confirm.again': 'Ask for a new link',
} as const
