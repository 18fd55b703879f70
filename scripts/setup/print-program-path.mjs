/** Prints where the PATH leads to a program: run inside npx, this tells where npx has put it. */
import { findProgram } from './find-program.mjs'

process.stdout.write(`program: ${findProgram(process.argv[2]) ?? ''}\n`)
