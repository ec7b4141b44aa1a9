# JavaScript: standardwebhooks and svix from npm.
npm init -y > /dev/null
npm install --silent --no-fund --no-audit standardwebhooks@1.1.1 svix@2.5.0 > /dev/null
cp "$HERE/npm.mjs.txt" program.mjs
node program.mjs
