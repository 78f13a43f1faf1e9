#!/bin/sh
# Usage: vendor.sh XTERM FIT. Replaces static/ files with those versions of xterm.js and its fit addon; see make terminal.
set -eu
cd "$(dirname "$0")/static"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "@xterm/xterm@$1" "@xterm/addon-fit@$2" >/dev/null)
mkdir "$work/xterm" "$work/fit"
tar xzf "$work/xterm-xterm-$1.tgz" -C "$work/xterm" --strip-components 1
tar xzf "$work/xterm-addon-fit-$2.tgz" -C "$work/fit" --strip-components 1
# Drop the references to source maps, which are not included.
sed '/^\/\/# sourceMappingURL/d' "$work/xterm/lib/xterm.mjs" >xterm.mjs
sed '/^\/\/# sourceMappingURL/d' "$work/fit/lib/addon-fit.mjs" >addon-fit.mjs
cp "$work/xterm/css/xterm.css" xterm.css
cat "$work/xterm/LICENSE" "$work/fit/LICENSE" >LICENSE.xterm
{
	echo "Created by make terminal from these npm packages:"
	echo "@xterm/xterm $1"
	echo "@xterm/addon-fit $2"
	echo
	echo "SHA-256 checksums:"
	sha256sum LICENSE.xterm addon-fit.mjs xterm.css xterm.mjs
} >VERSIONS
