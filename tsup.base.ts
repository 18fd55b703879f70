import type { Options } from 'tsup'

/** What every package's build shares: ESM, types, source maps, one file per entry. */
export const base: Options = {
  format: ['esm'],
  target: 'node20',
  dts: true,
  sourcemap: true,
  clean: true,
  splitting: false,
  treeshake: true
}
