import { FileDown } from 'lucide-react'
import { download } from '../body/download.ts'
import { MenuItem } from '../parts/Menu.tsx'
import type { RequestDetail } from '../trpc.ts'
import { asHar, asHttp, asJson } from '../words/exportAs.ts'

const FORMATS = [
  { words: 'Save as HAR', extension: 'har', write: asHar },
  { words: 'Save as .http', extension: 'http', write: asHttp },
  { words: 'Save as fixture (JSON)', extension: 'json', write: asJson },
] as const

/** The ways to take a request along as a file. */
export function ExportItems({ request }: { request: RequestDetail }) {
  return (
    <>
      {FORMATS.map(({ words, extension, write }) => (
        <MenuItem
          key={extension}
          icon={<FileDown size={14} aria-hidden="true" />}
          onClick={() => download(write(request), `request-${request.id}.${extension}`)}
        >
          {words}
        </MenuItem>
      ))}
    </>
  )
}
