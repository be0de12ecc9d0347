import { describe, expect, test } from 'bun:test'
import { valuesByPath } from '../words/diff.ts'
import { type BodySource, layoutOf } from './layout.ts'

const FORM = 'application/x-www-form-urlencoded'

const shown = (body: string, contentType: string | null, bodyKind?: BodySource['bodyKind']) =>
  layoutOf({
    body,
    contentType,
    isBinary: false,
    isTruncated: false,
    sizeBytes: body.length,
    ...(bodyKind === undefined ? {} : { bodyKind }),
  })

const pathsOf = (...body: Parameters<typeof shown>) => shown(...body).lines?.map(({ path }) => path)

describe('the lines of a body', () => {
  test('an object or a list is JSON although it is labelled as a form', () => {
    expect(pathsOf('{"id":1}', FORM)).toEqual(['body', 'body.id', 'body'])
    expect(pathsOf(' [1]', FORM)).toEqual(['body', 'body[0]', 'body'])
    expect(shown('{"id":1}', FORM).extension).toBe('json')
  })

  test('what else is labelled as a form is one', () => {
    expect(pathsOf('true', FORM)).toEqual(['body.true'])
    expect(pathsOf('{"id":1', FORM)).toEqual(['body["{\\"id\\":1"]'])
    expect(pathsOf('?a=1&b=2', FORM)).toEqual(['body.?a', 'body.b'])
  })

  test('JSON may begin with a byte order mark', () => {
    expect(pathsOf('\ufeff{"id":1}', 'application/json')).toEqual(['body', 'body.id', 'body'])
  })

  test('fields of one name are the elements of a list, and each counts in a comparison', () => {
    expect(pathsOf('tag=a&id=1&tag=b', FORM)).toEqual(['body.tag[0]', 'body.id', 'body.tag[1]'])
    const { lines } = shown('tag=a&id=1&tag=b', FORM)
    expect([...(valuesByPath(lines ?? [])?.values() ?? [])]).toEqual(['a', '1', 'b'])
  })

  test('XML has a tag or a text a line; what is not closed is text', () => {
    const linesOf = (body: string) =>
      shown(body, 'application/xml').lines?.map(({ depth, pieces }) => [
        depth,
        ...pieces.map(({ text }) => text),
      ])
    expect(linesOf('<?xml version="1.0"?>\n<a><b>1 > 0</b><!-- <c> --><![CDATA[<d>]]><e/></a>')).toEqual([
      [0, '<?xml version="1.0"?>'],
      [0, '<a>'],
      [1, '<b>', '1 > 0', '</b>'],
      [1, '<!-- <c> -->'],
      [1, '<![CDATA[<d>]]>'],
      [1, '<e/>'],
      [0, '</a>'],
    ])
    expect(linesOf('<a>1<!-- x <b>2')).toEqual([
      [0, '<a>', '1'],
      [1, '<!-- x <b>'],
      [1, '2'],
    ])
    expect(linesOf('<a>1<b x="')).toEqual([
      [0, '<a>', '1'],
      [1, '<b x="'],
    ])
  })

  test.each(['<', '<!--', '<![CDATA[', '<!-->', '<a'])(
    'a long body of %s takes no longer than others',
    (part) => {
      const began = performance.now()
      shown(part.repeat(1_000_000 / part.length), 'application/xml')
      // The square of its length would take minutes.
      expect(performance.now() - began).toBeLessThan(30_000)
    },
  )

  test('a body that conditions do not read as JSON or as a form has no paths', () => {
    expect(pathsOf('{"id":1}', 'application/vnd.other', 'text')).toEqual(['', '', ''])
    expect(pathsOf('a=1', FORM, 'text')).toEqual([''])
    expect(pathsOf('{"id":1}', FORM, 'json')).toContain('body.id')
    expect(pathsOf('a=1', FORM, 'form')).toEqual(['body.a'])
  })
})
