export function table(header: readonly unknown[], rows: readonly (readonly unknown[])[]): string
