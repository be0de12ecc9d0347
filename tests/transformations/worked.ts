import { join } from 'node:path'

/** A message of the page: header lines, a blank line, the body. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One worked example of docs/rules-examples.md. */
export interface Worked {
  readonly title: string
  readonly arrives: Message
  /** The rule as its JSON text. */
  readonly rule: string
  readonly isSent: Message
}

/** Reads the examples of the page. Each has three fences: the captured request, the rule, the request that is sent. */
export async function workedExamples(): Promise<{ secret: string; examples: Worked[] }> {
  const page = await Bun.file(join(import.meta.dir, '../../docs/rules-examples.md')).text()
  const [introduction = '', ...sections] = page.split(/^## /m)
  const secret = /`([A-Za-z0-9]{32})`/.exec(introduction)?.[1] ?? ''
  const examples = sections.map((section) => {
    const [arrives = '', rule = '', isSent = ''] = [...section.matchAll(/^```\w+\n([\s\S]*?)\n```$/gm)].map(
      (match) => match[1],
    )
    return {
      title: section.split('\n', 1)[0] ?? '',
      arrives: messageOf(arrives),
      rule,
      isSent: messageOf(isSent),
    }
  })
  return { secret, examples }
}

function messageOf(text: string): Message {
  const [head = '', ...body] = text.split('\n\n')
  const headers = head.split('\n').map((line): [string, string] => {
    const colon = line.indexOf(': ')
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  return { headers: Object.fromEntries(headers), body: body.join('\n\n') }
}
