import { Card } from '../parts/Card.tsx'
import { TextField } from '../parts/Field.tsx'
import { headerLines, headersOf } from '../words/headers.ts'
import type { SettingsDraft, SettingsForm } from './settingsDraft.ts'

/** The response to senders, with a preview. */
export function ResponseSettings({ form }: { form: SettingsForm }) {
  return (
    <Card title="Response">
      <div className="two">
        <div className="form">
          <div className="row-2">
            <TextField
              label="Status"
              inputMode="numeric"
              hint="200 to 299, or 400 to 599"
              {...form.field('status', 'responseStatusCode')}
            />
            <TextField
              label="Content type"
              kind="code"
              {...form.field('contentType', 'responseContentType')}
            />
          </div>
          <TextField
            label="Headers"
            rows={2}
            hint="One per line, as Name: value"
            {...form.field('headers', 'responseHeaders')}
          />
          <TextField label="Body" rows={4} {...form.field('body', 'responseBody')} />
        </div>
        <div className="field">
          <span className="label">Preview</span>
          <p className="sees">{seen(form.draft)}</p>
        </div>
      </div>
    </Card>
  )
}

const seen = ({ body, contentType, headers, status }: SettingsDraft): string =>
  [
    `HTTP/1.1 ${status}`,
    ...(body === '' ? [] : [`Content-Type: ${contentType}`]),
    ...headerLines(headersOf(headers)),
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    '',
    body,
  ].join('\n')
