/** The flags that every command takes, and the check of what stands in for one of them in the environment. */
import type { Command } from 'commander'
import type { CommonFlags } from '../compose.js'
import { isChannel, parseChannel, parseText } from '../flag-values.js'

export function addCommonFlags(command: Command): Command {
  return command
    .option(
      '--shared-dir <dir>',
      'the shared folder (default: $AGENTMUX_SHARED_DIR, ~/.agentmux/shared)',
      parseText
    )
    .option(
      '--channel <name>',
      'the channel others see us under (default: $AGENTMUX_CHANNEL, stable)',
      parseChannel
    )
    .option('--json', 'answers as JSON')
}

/** The common flags alone, whatever else a command has. */
export function commonFlags({ sharedDir, channel, json }: CommonFlags): CommonFlags {
  return { sharedDir, channel, json }
}

/** For commands that act under our channel: others refuse to read one that is too long. Ends with a usage error. */
export function checkChannel(command: Command, flags: CommonFlags): void {
  if (flags.channel === undefined && !isChannel(process.env.AGENTMUX_CHANNEL ?? '')) {
    command.error("error: $AGENTMUX_CHANNEL is invalid: use option '--channel <name>'")
  }
}
