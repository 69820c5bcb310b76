#!/usr/bin/env bash
# Fills dist/ with the compiled `api/client`, whose types stand on their own there. Needs a build of
# the service (`npm run build` in the root).
set -euo pipefail
cd "$(dirname "$0")"
built=../../dist/api/client
rm -rf dist
mkdir dist
for file in "$built"/*.js "$built"/*.d.ts; do
  case $file in *.test.*) continue ;; esac
  # Types of other rooms come from answers.d.ts; the compiler leaves endings of imports of types.
  sed -E -e "s#from '\.\./[^']+'#from './answers.js'#" -e "s#(from '\./[^']+)\.ts'#\1.js'#" \
    -e '/^\/\/# sourceMappingURL/d' "$file" >"dist/${file##*/}"
done
../../node_modules/.bin/tsc -p . --outDir ../../dist/client-types
{
  sed -E -e '/^(import|export) \{|^import type/d' \
    -e 's/^declare const (\w+): \(\) => /export type \1 = /' -e '/^declare const/d' \
    ../../dist/client-types/clients/typescript/answers.d.ts
  echo '/** A message of the feed, before the client has read it. */'
  echo 'export type ServerMessage = unknown;'
} >dist/answers.d.ts
if grep -l "from '\.\./" dist/*; then
  echo 'these files import from outside the package' >&2
  exit 1
fi
