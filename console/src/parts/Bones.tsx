import { useEffect, useState } from 'react'

const ROWS = [0, 1, 2, 3, 4, 5, 6, 7]

/** Placeholder while content loads. It is hidden for the first 150 ms, so that fast loads do not flicker. */
export function Bones() {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150)
    return () => clearTimeout(timer)
  }, [])
  if (!isLate) return null
  return (
    <div className="bones" aria-hidden="true">
      {ROWS.map((row) => (
        <i key={row} />
      ))}
    </div>
  )
}
