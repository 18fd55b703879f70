/** Root may read and write everywhere. With these words in front it is held to the permissions like everybody else. */
export const HELD_TO_PERMISSIONS =
  process.geteuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : []
