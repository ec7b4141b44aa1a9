# JavaScript: ZXing, jsQR and zbar (as WebAssembly) from npm.
npm init -y > /dev/null
npm install --silent --no-fund --no-audit @zxing/library@0.23.0 jsqr@1.4.0 @undecaf/zbar-wasm@0.11.0 > /dev/null
cp "$HERE/npm.mjs.txt" program.mjs
node program.mjs
