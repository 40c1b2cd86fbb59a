import type { Translation } from './namespaces.ts'

export const aboutZh = {
  'about.title': '关于',
  'about.failed': '加载关于内容失败…',
  'about.text': '通往众多模型服务商的网关：一个地址，一个密钥，精确计费。为 OpenAI API 编写的程序无需修改即可使用。',
  'about.version': '版本',
  'about.started': '启动时间',
  'about.compatible': '兼容为 one-api 编写的控制台和脚本。',
  'about.licence': '许可证',
  'about.licence.text': 'MIT。所用的软件包遵循各自的许可证。',
  'about.docs': 'API 文档',
  'about.admin': '此页面尚未填写内容，管理员可在设置中填写。',
  'about.write': '填写关于页面',
} as const satisfies Translation<'about'>
