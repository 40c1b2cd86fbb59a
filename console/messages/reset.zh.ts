import type { Translation } from './namespaces.ts'

export const resetZh = {
  'reset.title': '密码重置',
  'reset.text': '输入账户的邮箱地址，我们会发送设置新密码的链接。',
  'reset.email': '邮箱地址',
  'reset.submit': '发送重置邮件',
  'reset.wait': '重试（{seconds}）',
  'reset.done': '重置邮件发送成功，请检查邮箱！',
  'reset.done.text':
    '如果有账户使用该地址，邮件已经发出。其中的链接只能使用一次，且很快失效。没有收到？请查看垃圾邮件，或再试一次。',
  'reset.back': '返回登录',
  'reset.confirm.title': '密码重置确认',
  'reset.confirm.text': '将生成新密码。旧密码和所有已登录的会话都会失效。',
  'reset.confirm.submit': '重置密码',
  'reset.confirm.password': '新密码',
  'reset.confirm.copied': '新密码已复制到剪贴板：{password}',
  'reset.confirm.made': '你的新密码。请立即保存，之后不再显示。',
  'reset.confirm.login': '立即登录',
  'reset.confirm.dead': '此链接不完整',
  'reset.confirm.dead.text': '请重新打开邮件中的链接，或申请新的链接。',
  'reset.confirm.again': '申请新的链接',
} as const satisfies Translation<'reset'>
