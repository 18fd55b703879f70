export declare class EtcdCluster {
  static start(size: number, parent?: string): Promise<EtcdCluster>
  readonly urls: string[]
  readonly pids: number[]
  answers(): Promise<void>
  leader(): Promise<number>
  kill(index: number): Promise<void>
  revive(index: number): void
  freeze(index: number): void
  thaw(index: number): void
  cut(index: number): void
  mend(index: number): void
  stop(): Promise<void>
}
