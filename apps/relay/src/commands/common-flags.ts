/** The flags that every command takes: where the relay keeps what it keeps. */
import { type Command, InvalidArgumentError } from 'commander'
import { parseUrls } from '../flag-values.js'

export interface CommonFlags {
  readonly data?: string | undefined
  readonly etcd?: readonly string[] | undefined
  readonly json?: boolean | undefined
}

export function addCommonFlags(command: Command): Command {
  return command
    .option('--data <dir>', 'the data folder (default: $AGENTMUX_RELAY_DATA, ~/.agentmux/relay)', (value) =>
      nonEmpty(value)
    )
    .option('--etcd <urls>', 'keep everything in etcd instead: URL,URL,…', parseUrls)
    .option('--json', 'answers as JSON')
}

/** The common flags alone, whatever else a command has. Two places to keep things are a usage error. */
export function commonFlags(command: Command, { data, etcd, json }: CommonFlags): CommonFlags {
  if (data !== undefined && etcd !== undefined) command.error("error: give '--data' or '--etcd', not both")
  return { data, etcd, json }
}

function nonEmpty(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  if (value.startsWith('-'))
    throw new InvalidArgumentError('It looks like the next flag: the value is missing.')
  return value
}
