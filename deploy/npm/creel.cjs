#!/usr/bin/env node
'use strict'
/**
 * The command `creel` of the npm package. It runs the executable of this machine's platform package with the same words, passes
 * signals on, and ends as the executable does.
 */
const { spawn } = require('node:child_process')
const { dirname, join } = require('node:path')

/** Signals that stop a service, and that a terminal, npm or a supervisor sends. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const PARENT_CHECK_MS = 250

const platform = `${process.platform}-${process.arch}`
const { optionalDependencies } = require('./package.json')
const platformPackage = `@creel/${platform}`

const executable = find()
if (executable !== undefined) run(executable)

/** The path of the executable. Where there is none, prints why and sets the exit code. */
function find() {
  if (process.platform === 'win32') {
    refuse(
      'Creel runs on Linux and macOS. On Windows, use the Windows Subsystem for Linux (WSL):',
      '  wsl --install     once, in a PowerShell of an administrator',
      'Then open a WSL terminal, and install Node and this package there.',
    )
    return undefined
  }
  if (!(platformPackage in optionalDependencies)) {
    const names = Object.keys(optionalDependencies).map((name) => name.replace('@creel/', ''))
    refuse(
      `Creel has no executable for ${platform}. It has one for each of: ${names.join(', ')}.`,
      'A container or a virtual machine of one of them runs it.',
    )
    return undefined
  }
  try {
    return join(dirname(require.resolve(`${platformPackage}/package.json`)), 'bin', 'creel')
  } catch {
    refuse(
      `The package ${platformPackage}, which holds the executable, is not installed.`,
      'npm leaves it out with --omit=optional or --no-optional, on a Linux without glibc (Alpine), and where node_modules',
      'was copied from another system or installed from such a lock file. Remove node_modules and install again.',
    )
    return undefined
  }
}

function refuse(...lines) {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exitCode = 1
}

function run(path) {
  const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
  let isAsked = false
  const pass = (signal) => {
    isAsked = true
    child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, () => pass(signal))
  // A second signal would end what still drains.
  stopWithParent(() => isAsked || pass('SIGTERM'))
  child.on('error', (error) => {
    refuse(`${path} cannot be started: ${error.message}`, 'It needs Linux with glibc, or macOS 13 and later.')
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    // So that this process ends by the same signal, and its parent sees it.
    for (const name of SIGNALS) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

/** npm runs a command below `sh -c`. It ends that shell by a signal, and the shell passes none on. */
function stopWithParent(stop) {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, PARENT_CHECK_MS)
}
