import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate with its key, in PEM. */
export interface Issued {
  readonly certificate: string
  readonly key: string
}

/** An authority that exists for a test. */
export interface Authority {
  /** In PEM. */
  readonly certificate: string
  /** Signs a certificate for 127.0.0.1 and localhost, valid for this many days from now. */
  issue(name: string, days: number): Promise<Issued>
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes an authority that is valid for this many days. */
export async function newAuthority(days = 3650): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-ca-'))
  try {
    const name = `Authority ${randomUUID()}`
    openssl(folder, [
      'req',
      '-x509',
      ...KEY,
      '-keyout',
      'key',
      '-out',
      'cert',
      '-days',
      String(days),
      '-subj',
      `/CN=${name}`,
    ])
    const [certificate, key] = await Promise.all([text(folder, 'cert'), text(folder, 'key')])
    return { certificate, issue: (subject, lasts) => issue({ certificate, key }, subject, lasts) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function issue(authority: Issued, name: string, days: number): Promise<Issued> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-ca-'))
  try {
    await writeFile(join(folder, 'ca.cert'), authority.certificate)
    await writeFile(join(folder, 'ca.key'), authority.key)
    await writeFile(join(folder, 'ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n')
    openssl(folder, ['req', '-new', ...KEY, '-keyout', 'key', '-out', 'csr', '-subj', `/CN=${name}`])
    const signed = ['x509', '-req', '-in', 'csr', '-CA', 'ca.cert', '-CAkey', 'ca.key', '-CAcreateserial']
    openssl(folder, [...signed, '-out', 'cert', '-days', String(days), '-extfile', 'ext'])
    const [certificate, key] = await Promise.all([text(folder, 'cert'), text(folder, 'key')])
    return { certificate, key }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const openssl = (cwd: string, words: readonly string[]) =>
  execFileSync('openssl', words, { cwd, stdio: 'ignore' })
const text = (folder: string, file: string) => readFile(join(folder, file), 'utf8')
