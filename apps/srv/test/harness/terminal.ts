/** A terminal with a shell that does job control, as a person has it. */
import type { Program } from './program.js'
import { fixture, quoted, type RunOptions, type Scene } from './scene.js'

const PROMPT = 'ready> '

/** Runs words on a new terminal of which they lead the session. `python3` has ptys; Node has none. */
export function onTerminal(
  scene: Scene,
  words: readonly string[],
  environment: Record<string, string> = {}
): Program {
  return scene.start(['python3', '-I', fixture('pty.py'), '24', '80', ...words], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    environment
  })
}

export class ShellOnTerminal {
  readonly program: Program
  readonly #scene: Scene

  constructor(scene: Scene, environment: Record<string, string> = {}) {
    this.#scene = scene
    this.program = onTerminal(scene, ['sh', '-i'], { PS1: PROMPT, ENV: '', HISTFILE: '', ...environment })
  }

  enter(line: string): void {
    this.program.type(`${line}\r`)
  }

  /** Enters `agentmux-srv run … -- COMMAND…`. */
  run(command: readonly string[], options: RunOptions = {}): void {
    this.enter(this.#scene.runWords(command, options).map(quoted).join(' '))
  }

  /** The exit code of what ran last, once the shell is there to tell it. */
  async lastExit(): Promise<number> {
    this.enter('echo "code=$?."')
    const [, code] = await this.program.prints(/code=(\d+)\./)
    return Number(code)
  }
}

export const CTRL_C = '\x03'
export const CTRL_Z = '\x1a'
export const CTRL_BACKSLASH = '\x1c'
