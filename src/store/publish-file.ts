import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

/** Gives a file that is complete its name, durably: what has that name is whole. It must lie in the same directory. */
export const publishFile = (begun: string, file: string): void => {
  sync(begun, 'r+')
  renameSync(begun, file)
  sync(dirname(file), 'r')
}

const sync = (path: string, flags: string): void => {
  const descriptor = openSync(path, flags)
  fsyncSync(descriptor)
  closeSync(descriptor)
}
