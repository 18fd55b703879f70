/** The data folder cannot be used as it is. Its sentence says what to do. */
export class DataFolderFault extends Error {
  override readonly name = 'DataFolderFault'
}
