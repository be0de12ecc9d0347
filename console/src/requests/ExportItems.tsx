import { FileDown } from 'lucide-react'
import { download } from '../body/download.ts'
import { MenuItem } from '../parts/Menu.tsx'
import { creel, type RequestDetail } from '../trpc.ts'
import { asHar, asHttp, asJson } from '../words/exportAs.ts'

const FORMATS = [
  { words: 'Save as HAR', extension: 'har', write: asHar },
  { words: 'Save as .http', extension: 'http', write: asHttp },
  { words: 'Save as fixture (JSON)', extension: 'json', write: asJson },
] as const

/** Saves a request as a file. Fetches an omitted body first. */
async function save(request: RequestDetail, extension: string, write: (whole: RequestDetail) => string) {
  const { bodyOmitted, endpointId, id } = request
  const whole = bodyOmitted ? await creel.requests.get.query({ endpointId, requestId: id }) : request
  download(write(whole), `request-${id}.${extension}`)
}

/** Menu items that save a request as a file. */
export function ExportItems({ request }: { request: RequestDetail }) {
  return (
    <>
      {FORMATS.map(({ words, extension, write }) => (
        <MenuItem
          key={extension}
          icon={<FileDown size={14} />}
          onClick={() => void save(request, extension, write)}
        >
          {words}
        </MenuItem>
      ))}
    </>
  )
}
