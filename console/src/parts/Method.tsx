/** An HTTP method in its colour. */
export function Method({ method }: { method: string }) {
  return (
    <span className="method" data-method={method.toUpperCase()}>
      {method}
    </span>
  )
}
