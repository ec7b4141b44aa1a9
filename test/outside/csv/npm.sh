# JavaScript: csv-parse and papaparse from npm, with commas, and csv-parse with semicolons.
npm init -y > /dev/null
npm install --silent --no-fund --no-audit csv-parse@7.0.3 papaparse@5.7.1 > /dev/null
cp "$HERE/npm.mjs.txt" program.mjs
node program.mjs
