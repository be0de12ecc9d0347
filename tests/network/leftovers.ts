import { readdir, readFile, readlink } from 'node:fs/promises'
import { z } from 'zod'
import type { Target } from './target.ts'

/** Resources that an idle service holds. */
export interface Holdings {
  /** Descriptors that are not connections of clients. */
  readonly descriptors: number
  /** Connections of clients, in any state. */
  readonly connections: number
  /** Live objects by class. */
  readonly objects: Readonly<Record<string, number>>
  readonly heapMegabytes: number
  readonly residentMegabytes: number
  /** Bytes of captures that are arriving or waiting to be stored. */
  readonly bodyBytes: number
  /** Errors of connections that the service has caught. */
  readonly faults: number
}

/** Classes without leftovers, with a tolerance for each. */
const CLASSES: Readonly<Record<string, number>> = {
  Timeout: 6,
  TCPSocket: 20,
  AbortController: 8,
  AbortSignal: 8,
  ReadableStream: 8,
  Request: 8,
  Response: 8,
}
/** Descriptors that come and go with the pools of connections to the database, and with timers of the engine. */
const DESCRIPTORS = 24
const MEGABYTES = 200
const HEAP_MEGABYTES = 48
const MEGABYTE = 1024 * 1024

const Report = z.object({
  objects: z.record(z.string(), z.number()),
  heapBytes: z.number(),
  residentBytes: z.number(),
})

/** Measures the service from outside and inside, after a garbage collection. */
export async function holdingsOf(target: Target): Promise<Holdings> {
  // First, since it fills the pool of connections to the database, each of which has timers.
  const metrics = await (await fetch(`${target.baseUrl}/metrics`, { keepalive: false })).text()
  const report = Report.parse(
    await (await fetch('http://inside/', { unix: target.inside, keepalive: false })).json(),
  )
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0)
  const descriptors = (await descriptorsOf(target.pid)).length
  const connections = await openConnections(target)
  return {
    descriptors: descriptors - connections,
    connections,
    objects: report.objects,
    heapMegabytes: report.heapBytes / MEGABYTE,
    residentMegabytes: report.residentBytes / MEGABYTE,
    bodyBytes: value('creel_body_bytes'),
    faults: value('creel_connection_faults_total'),
  }
}

/**
 * Connections of clients that the service has accepted and not closed. A socket that its client has reset is in no
 * table of the system until it is closed, and counts.
 */
export async function openConnections(target: Target): Promise<number> {
  const [links, sockets] = await Promise.all([descriptorsOf(target.pid), socketsOfSystem()])
  const suffix = `:${target.port.toString(16).toUpperCase().padStart(4, '0')}`
  return links.filter((link) => {
    const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1]
    if (inode === undefined) return false
    const socket = sockets.get(inode)
    return socket === undefined || (socket.address.endsWith(suffix) && !socket.isListening)
  }).length
}

/** Differences from before: an empty list when everything was released. */
export function leftovers(before: Holdings, now: Holdings): readonly string[] {
  const left: string[] = []
  const compare = (name: string, was: number, is: number, room: number) => {
    if (is > was + room) left.push(`${name}: ${Math.round(is)} after ${Math.round(was)}`)
  }
  compare('connections', 0, now.connections, 0)
  compare('descriptors', before.descriptors, now.descriptors, DESCRIPTORS)
  compare('bytes of bodies', 0, now.bodyBytes, 0)
  compare('caught errors', before.faults, now.faults, 0)
  compare('resident megabytes', before.residentMegabytes, now.residentMegabytes, MEGABYTES)
  compare('megabytes of the heap', before.heapMegabytes, now.heapMegabytes, HEAP_MEGABYTES)
  for (const [name, room] of Object.entries(CLASSES)) {
    compare(name, before.objects[name] ?? 0, now.objects[name] ?? 0, room)
  }
  return left
}

async function descriptorsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`
  const links = await Promise.all(
    (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => undefined)),
  )
  return links.filter((link) => link !== undefined)
}

interface SystemSocket {
  /** Local address and port in hexadecimal; empty for a Unix socket. */
  readonly address: string
  readonly isListening: boolean
}

/** Column of the inode of a socket in each table of the system. */
const TABLES = { tcp: 9, tcp6: 9, udp: 9, udp6: 9, unix: 6, netlink: 9 } as const
const LISTENING = '0A'

async function socketsOfSystem(): Promise<ReadonlyMap<string, SystemSocket>> {
  const sockets = new Map<string, SystemSocket>()
  for (const [table, column] of Object.entries(TABLES)) {
    const text = await readFile(`/proc/net/${table}`, 'utf8').catch(() => '')
    for (const line of text.split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      const [, address = '', , state] = fields
      const isTcp = table.startsWith('tcp')
      sockets.set(fields[column] ?? '', {
        address: isTcp ? address : '',
        isListening: isTcp && state === LISTENING,
      })
    }
  }
  return sockets
}
