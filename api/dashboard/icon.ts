/** The icon of the dashboard as SVG: three rising bars in a disc. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<circle cx="16" cy="16" r="16" fill="#0b5cad"/>
<path d="M8 18h4v6H8zm6-6h4v12h-4zm6-5h4v17h-4z" fill="#fff"/>
</svg>
`
