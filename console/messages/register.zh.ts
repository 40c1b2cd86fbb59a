import type { Translation } from './namespaces.ts'

export const registerZh = {
  'register.title': '新用户注册',
  'register.username': '用户名',
  'register.username.placeholder': '最长 12 位',
  'register.password': '密码',
  'register.password.placeholder': '8 到 20 位',
  'register.password2': '再次输入密码',
  'register.email': '邮箱地址',
  'register.code': '验证码',
  'register.submit': '注册',
  'register.done': '注册成功！',
  'register.tooShort': '密码长度不得小于 8 位！',
  'register.mismatch': '两次输入的密码不一致',
  'register.codeSent': '验证码发送成功，请检查你的邮箱！',
  'register.haveAccount': '已有账户？',
  'register.login': '点击登录',
  'register.invited': '你收到了邀请',
  'register.common': '这是最常见的密码之一，换一个更安全。',
  'register.closed': '管理员已关闭注册。',
  'register.refused': '注册被拒绝',
} as const satisfies Translation<'register'>
