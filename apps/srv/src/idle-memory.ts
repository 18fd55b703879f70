/** Keeps the memory of a process that only waits from being tidied up: that would wake it several times a second. */

/** For a run, which may wait for hours. Loads a part of Node: to be called once there is time. */
export function leaveIdleMemoryAlone(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--no-incremental-marking')
}
