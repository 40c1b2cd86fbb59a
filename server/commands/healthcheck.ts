import { type AddCommand, CommandFailed, examples } from './command.ts'

const timeoutMs = 3000

export const addHealthcheck: AddCommand = (program, terminal) => {
  program
    .command('healthcheck')
    .summary('ask the server on this machine whether it is alive')
    .description(
      'Calls /healthz of the server on this machine, on PORT and under BASE_PATH. Ends with 1 if it does not answer within 3 seconds. This is the health check of the container image.',
    )
    .option('--ready', 'ask whether it accepts calls (/readyz) instead')
    .addHelpText(
      'after',
      examples(['healthcheck', 'is the server alive?'], ['healthcheck -- --ready', 'does it accept calls?']),
    )
    .action(async ({ ready }: { ready?: true }) => {
      const { port, host, basePath } = terminal.readConfig()
      const at = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
      const url = `http://${at.includes(':') ? `[${at}]` : at}:${port}${basePath}/${ready ? 'readyz' : 'healthz'}`
      const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined)
      if (!response) throw new CommandFailed(`Nothing answers at ${url}.`)
      if (!response.ok) throw new CommandFailed(`${url} answers ${response.status}.`)
      terminal.print('ok')
    })
}
