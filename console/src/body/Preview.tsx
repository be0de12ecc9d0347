import { useEffect, useState } from 'react'

interface Props {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly kind: 'image' | 'html'
}

/** An image from its bytes; HTML in a frame without scripts, styles or network. */
export function Preview({ bytes, type, kind }: Props) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [bytes, type])
  return (
    <div className="body-preview">
      {url !== undefined &&
        (kind === 'image' ? (
          <img src={url} alt="The captured body" />
        ) : (
          <iframe
            src={url}
            sandbox=""
            referrerPolicy="no-referrer"
            title="The captured page, without scripts, styles or network"
          />
        ))}
    </div>
  )
}
