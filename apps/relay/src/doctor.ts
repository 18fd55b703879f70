export async function doctor(_flags: unknown): Promise<number> {
  return 0
}
