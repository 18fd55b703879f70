/** What a person reads when the set-up did not succeed: the reason in the first line. */
import { Interrupted, StepFailed } from './step.mjs'
import { MissingTools } from './toolchain.mjs'

/** Sets the exit code as well. */
export function reportFailure(error) {
  process.exitCode = 1
  if (error instanceof Interrupted) process.kill(process.pid, error.signal)
  else if (error instanceof MissingTools) process.stderr.write(error.message)
  else if (error instanceof StepFailed) process.stderr.write(`agentmux: ${error.message}\n${error.log}`)
  else process.stderr.write(`agentmux: set-up failed: ${error.stack}\n`)
}
