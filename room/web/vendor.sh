#!/bin/sh
# vendor.sh XTERM FIT: xterm.js and its fit addon in those versions, into static/, as make terminal does.
set -eu
cd "$(dirname "$0")/static"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "@xterm/xterm@$1" "@xterm/addon-fit@$2" >/dev/null)
mkdir "$work/xterm" "$work/fit"
tar xzf "$work/xterm-xterm-$1.tgz" -C "$work/xterm" --strip-components 1
tar xzf "$work/xterm-addon-fit-$2.tgz" -C "$work/fit" --strip-components 1
# The maps that the last lines name are not kept.
sed '/^\/\/# sourceMappingURL/d' "$work/xterm/lib/xterm.mjs" >xterm.mjs
sed '/^\/\/# sourceMappingURL/d' "$work/fit/lib/addon-fit.mjs" >addon-fit.mjs
cp "$work/xterm/css/xterm.css" xterm.css
cat "$work/xterm/LICENSE" "$work/fit/LICENSE" >LICENSE.xterm
{
	echo "Made by make terminal from the packages of the npm registry:"
	echo "@xterm/xterm $1"
	echo "@xterm/addon-fit $2"
	echo
	echo "SHA-256 of what is kept:"
	sha256sum LICENSE.xterm addon-fit.mjs xterm.css xterm.mjs
} >VERSIONS
