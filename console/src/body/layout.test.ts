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
    expect([...valuesByPath(lines ?? []).values()]).toEqual(['a', '1', 'b'])
  })

  test('a body that conditions do not read as JSON or as a form has no paths', () => {
    expect(pathsOf('{"id":1}', 'application/vnd.other', 'text')).toEqual(['', '', ''])
    expect(pathsOf('a=1', FORM, 'text')).toEqual([''])
    expect(pathsOf('{"id":1}', FORM, 'json')).toContain('body.id')
    expect(pathsOf('a=1', FORM, 'form')).toEqual(['body.a'])
  })
})
